/** Settles what dead attempts and dead runs left open, so that its records are free when they are read again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { segmentProblem } from '../src/platform/path.js';
import type { OpenBatch } from '../src/state/open-batches.js';
import type { RecordOutcome } from '../src/state/record-outcomes.js';
import { countedIn, pollUntilSettled } from './batch-status.js';
import type { UploadScope } from './upload-batch.js';

export async function recoverRange(scope: UploadScope): Promise<void> {
  const open = await scope.deps.ledger.batches.leftBehind(scope.range);
  await Promise.all(
    open.map((batch) => {
      const id = platformIdOf(batch);
      return id === null ? giveUp(scope, batch) : follow(scope, batch, id);
    }),
  );
}

/** Null also where it can be in no address: then nobody can be asked about the batch. */
const platformIdOf = ({ platformBatchId: id }: OpenBatch): string | null =>
  id === null || segmentProblem(id) !== undefined ? null : id;

/**
 * Counted from the intent: its POST may have ended one delay later (upload-batch.ts), and the platform may apply it one
 * delay after that.
 */
const DELAYS_AFTER_A_CRASH = 2;

/**
 * An intent whose POST left no trace here: the platform may have the batch, and may still be applying it.
 * Its records are sent again only after the platform's longest delay, counted from the last moment at which the
 * POST may have ended: one delay after the intent (upload-batch.ts).
 */
async function giveUp(scope: UploadScope, batch: OpenBatch): Promise<void> {
  const { deps, sync, range, signal } = scope;
  await sleep(Math.max(0, sync.spec.upload.inDoubtDelay * 1000 * DELAYS_AFTER_A_CRASH - batch.age), undefined, {
    signal,
  });
  const now = await deps.ledger.batches.again(batch);
  const id = now === undefined ? null : platformIdOf(now);
  if (now !== undefined && id !== null) return follow(scope, now, id);
  await deps.ledger.batches.recover(
    range,
    batch,
    outcomesOf(batch, () => 'unclear'),
    [],
  );
}

async function follow(scope: UploadScope, batch: OpenBatch, platformBatchId: string): Promise<void> {
  const { status } = await pollUntilSettled(scope, platformBatchId, batch.tenant);
  const counted = status === null ? null : countedIn(status, batch.externalIds, batch.records);
  const held = batch.externalIds.filter((id) => counted?.listed.has(id) === true);
  // What the counters do not prove, or refuse, is read and sent again: the row is the truth, and the dead letter
  // needs the row's key.
  const outcomes = outcomesOf(batch, (externalId) =>
    counted?.listed.has(externalId) === true ? null : (counted?.others ?? 'unclear'),
  );
  const holdFor = scope.mapping.spec.options.dependencyWaitTimeout;
  await scope.deps.ledger.batches.recover(scope.range, batch, outcomes, held, holdFor);
}

function outcomesOf(batch: OpenBatch, of: (externalId: string) => RecordOutcome['outcome'] | null): RecordOutcome[] {
  return batch.externalIds.flatMap((externalId, i) => {
    const outcome = of(externalId);
    const contentHash = batch.contentHashes[i]!;
    return outcome === null ? [] : [{ tenantId: batch.tenantId, externalId, contentHash, outcome }];
  });
}
