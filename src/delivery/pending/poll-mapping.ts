/** Polls the pending records of a mapping, and sends again the records that are due. */
import pLimit from 'p-limit';
import type { MappingRef } from '../../domain/run/work.js';
import { allEnded } from '../all-ended.js';
import type { Dependencies } from '../dependencies.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import { recordingEffort } from '../write-checkpoint.js';
import { recoverPartition } from '../upload/recover-partition.js';
import { pollBatch, type PendingChild } from './poll-batch.js';
import { fetchParents, makeReadyChildrenDue, retryDeadLetteredChildren } from './retry-children.js';
import { retryRecords } from './retry-records.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/**
 * Costs only a few small queries if no record waits and no child was given up.
 *
 * @param shouldContinue checked after each group of records that is sent
 * @returns whether all records that were due or ready have been sent
 */
export async function pollMapping(
  deps: Dependencies,
  ref: MappingRef,
  signal: AbortSignal,
  shouldContinue: () => boolean,
): Promise<boolean> {
  const { ledger } = deps;
  const { mappingId } = await (await deps.openSync(ref.sync, ref.runId)).mapping(ref.mapping);
  if (!(await ledger.waiting.any(mappingId)) && !(await ledger.deadLetters.anyLackingParents(mappingId))) return true;
  const partitionId = await ledger.partitions.forRowsByKey(ref.runId, mappingId);
  const context = await acquirePartition(deps, { ...ref, partitionId }, signal);
  return recordingEffort(context, () => pollIn(context, shouldContinue));
}

/** Polls in the partition for rows that are read by their keys. */
async function pollIn(context: PartitionContext, shouldContinue: () => boolean): Promise<boolean> {
  const {
    deps: { ledger },
    mapping: { mappingId },
    signal,
  } = context;
  await recoverPartition(context);
  await fetchParents(context, await pollBatches(context));
  await makeReadyChildrenDue(context, await ledger.waiting.now());
  // A record that is tried in vain becomes due later than now, so the loop ends however long a round takes.
  const now = await ledger.waiting.now();
  while (true) {
    signal.throwIfAborted();
    const due = await ledger.waiting.due(mappingId, now, LOOK_UP_ROWS);
    if (due.length === 0) break;
    await retryRecords(context, due);
    if (!shouldContinue()) return false;
  }
  return retryDeadLetteredChildren(context, shouldContinue);
}

/** Polls the batches with pending records, as many side by side as requests are allowed. */
async function pollBatches(context: PartitionContext): Promise<PendingChild[]> {
  const { deps, sync, mapping, signal } = context;
  const sideBySide = pLimit(Math.max(1, sync.requestLimit.atOnce));
  const polls = (await deps.ledger.batches.withPending(mapping.mappingId)).map((batch) =>
    sideBySide(() => {
      signal.throwIfAborted();
      return pollBatch(context, batch);
    }),
  );
  return (await allEnded(polls)).flat();
}
