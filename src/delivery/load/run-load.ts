/** One load of a partition: acquires it, settles what dead attempts left open, and works for a bounded time. */
import type { Hold } from '../../domain/guard.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { LoadResult, PartitionRef } from '../../domain/work.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import type { Dependencies } from '../dependencies.js';
import { recoverPartition } from '../upload/recover-partition.js';

/** Tells for how long a load goes on, from now: until its time is over or it is cancelled. */
export function loadTime(signal: AbortSignal): () => boolean {
  const deadline = performance.now() + milliseconds('loadTime');
  return () => performance.now() < deadline && !signal.aborted;
}

/**
 * @param work goes on from the partition's resume point, while `goesOn` returns true; returns whether it has reached the
 *   end of the partition, which is then noted in the ledger
 */
export async function runLoad(
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
  work: (context: PartitionContext, goesOn: () => boolean) => Promise<boolean>,
): Promise<LoadResult> {
  const context = await acquirePartition(deps, ref, signal);
  const { partition } = context;
  if (partition.done) return loadResult(deps, ref, true);
  await recoverPartition(context);
  try {
    const done = await work(context, loadTime(signal));
    signal.throwIfAborted();
    if (done) await deps.ledger.partitions.finish(partition);
    return await loadResult(deps, ref, done);
  } catch (error) {
    if (!(error instanceof GuardExceeded)) throw error;
    return loadResult(deps, ref, false, error.hold);
  }
}

/** The result of a load, with the run's progress as it is now. */
export const loadResult = async (
  { ledger }: Dependencies,
  { runId }: Pick<PartitionRef, 'runId'>,
  done: boolean,
  hold: Hold | null = null,
): Promise<LoadResult> => ({ done, hold, progress: await ledger.counts.progress(runId) });
