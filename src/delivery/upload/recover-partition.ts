/** Settles the batches that dead attempts and dead runs left open, so that their records can be claimed again. */
import type { OpenBatch } from '../../ledger/batches/batches.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';
import { hasUnlistedPending, dependencyWaitOf, longestKept } from './dependency-wait.js';
import { platformIdOf, provenByCounters, pollUntilProcessed } from './batch-status.js';
import { allEnded } from '../all-ended.js';
import type { OpenSync } from '../dependencies.js';
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

/** Seconds after which the platform applies nothing of an intended batch any more, but for children that it keeps. */
export const longestInDoubt = ({ spec }: Pick<OpenSync, 'spec'>): number =>
  spec.upload.inDoubtDelay * times('inDoubtDelaysAfterCrash');

/**
 * Frees the records of an intent without a platform id. The platform may have the batch, and may apply it for a while: at the latest
 * one delay after its POST, which ended at most one delay after the intent (post-batch.ts). Until then a row with the same
 * content is sent at once, and one that has changed waits (ADR 0043).
 *
 * If the platform was asked to keep children, it may have them pending for much longer, and would apply them after anything
 * newer that is sent meanwhile. So the ledger has them as pending, too (ADR 0036).
 */
async function releaseInDoubt(context: PartitionContext, batch: OpenBatch): Promise<void> {
  const { deps, sync, partition } = context;
  const inDoubtFor = Math.max(0, longestInDoubt(sync) - batch.age / 1000);
  const keeps = dependencyWaitOf(context);
  await deps.ledger.batches.recover(partition, batch, {
    outcomes: outcomesOf(batch, () => 'unknown'),
    pending: keeps > 0 ? batch.externalIds : [],
    dependencyWait: keeps + inDoubtFor,
    inDoubtFor,
  });
}

async function poll(context: PartitionContext, batch: OpenBatch, platformBatchId: string): Promise<void> {
  const { tenant, records: sent } = batch;
  const { status, processed } = await pollUntilProcessed(context, { platformBatchId, tenant, sent });
  const counted = status === null ? null : provenByCounters(status, batch.externalIds, batch.records);
  const dependencyWait = dependencyWaitOf(context);
  const isUnlistedPending = hasUnlistedPending(context, counted);
  const isPending = (externalId: string): boolean => isUnlistedPending || counted?.listed.has(externalId) === true;
  // Records that are not proved to be accepted are read and sent again, even if they failed: the row may have changed,
  // and a dead letter needs the row's key.
  const outcomes = outcomesOf(batch, (externalId) =>
    isPending(externalId) ? 'pending' : (counted?.outcomeOfUnlisted ?? 'unknown'),
  );
  const pending = batch.externalIds.filter(isPending);
  // The platform may have kept children at its deadline that it does not count.
  const mayKeep = !processed && dependencyWait > 0 && outcomes.some(({ outcome }) => outcome === 'unknown');
  const inDoubtFor = mayKeep ? longestKept(context) : 0;
  await context.deps.ledger.batches.recover(context.partition, batch, {
    outcomes,
    pending,
    dependencyWait,
    inDoubtFor,
  });
}

const outcomesOf = (batch: OpenBatch, outcomeOf: (externalId: string) => SentRecord['outcome']): SentRecord[] =>
  batch.externalIds.map((externalId, i) => ({
    tenantId: batch.tenantId,
    externalId,
    contentHash: batch.contentHashes[i]!,
    outcome: outcomeOf(externalId),
  }));
