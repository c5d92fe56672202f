/** Settles the batches that dead attempts and dead runs left open, so that their records can be claimed again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { segmentProblem } from '../../platform/path.js';
import type { OpenBatch } from '../../ledger/batches/batches.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';
import { provenByCounters, pollUntilProcessed } from './batch-status.js';
import { allEnded } from '../all-ended.js';
import type { PartitionContext } from '../partition-context.js';
import { times } from '../../domain/timeouts.js';

/** When this resolves, all batches that were left open are closed or have only pending records. */
export async function recoverPartition(context: PartitionContext): Promise<void> {
  const open = await context.deps.ledger.batches.takeOverLeftBehind(context.partition);
  await allEnded(
    open.map((batch) => {
      const id = platformIdOf(batch);
      return id === null ? releaseInDoubt(context, batch) : poll(context, batch, id);
    }),
  );
}

/** null also for an id that cannot be part of a URL: the platform cannot be asked about such a batch. */
const platformIdOf = ({ platformBatchId: id }: OpenBatch): string | null =>
  id === null || segmentProblem(id) !== undefined ? null : id;

/**
 * Releases the records of an intent without a platform id. The platform may have the batch and may still be applying it, so its
 * records are sent again only after the platform's longest delay. That is counted from the last moment at which the
 * POST may have ended: one delay after the intent (upload-batch.ts).
 */
async function releaseInDoubt(context: PartitionContext, batch: OpenBatch): Promise<void> {
  const { deps, sync, partition, signal } = context;
  const wait = sync.spec.upload.inDoubtDelay * 1000 * times('inDoubtDelaysAfterCrash');
  await sleep(Math.max(0, wait - batch.age), undefined, { signal });
  // The attempt may have recorded the platform's id meanwhile.
  const now = await deps.ledger.batches.refresh(batch);
  if (now === undefined) return;
  const id = platformIdOf(now);
  if (id !== null) return poll(context, now, id);
  const outcomes = outcomesOf(batch, () => 'unknown');
  await deps.ledger.batches.recover(partition, batch, { outcomes, pending: [], dependencyWait: 0 });
}

async function poll(context: PartitionContext, batch: OpenBatch, platformBatchId: string): Promise<void> {
  const { status } = await pollUntilProcessed(context, platformBatchId, batch.tenant);
  const counted = status === null ? null : provenByCounters(status, batch.externalIds, batch.records);
  const pending = batch.externalIds.filter((id) => counted?.listed.has(id) === true);
  // Records that are not proved to be accepted are read and sent again, even if they failed: the row may have changed,
  // and a dead letter needs the row's key.
  const outcomes = outcomesOf(batch, (externalId) =>
    counted?.listed.has(externalId) === true ? null : (counted?.outcomeOfUnlisted ?? 'unknown'),
  );
  const dependencyWait = context.mapping.spec.options.dependencyWaitTimeout;
  await context.deps.ledger.batches.recover(context.partition, batch, { outcomes, pending, dependencyWait });
}

/** `outcomeOf` returns null for a pending record. */
function outcomesOf(batch: OpenBatch, outcomeOf: (externalId: string) => SentRecord['outcome'] | null): SentRecord[] {
  return batch.externalIds.flatMap((externalId, i) => {
    const outcome = outcomeOf(externalId);
    const contentHash = batch.contentHashes[i]!;
    return outcome === null ? [] : [{ tenantId: batch.tenantId, externalId, contentHash, outcome }];
  });
}
