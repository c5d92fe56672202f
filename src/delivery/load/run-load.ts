/** One load of a partition: acquires it, settles what dead attempts left open, and works for a bounded time. */
import type { Hold } from '../../domain/guard.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { LoadResult, PartitionRef } from '../../domain/work.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import type { Dependencies } from '../dependencies.js';
import { recoverPartition } from '../upload/recover-partition.js';

/**
 * @param work delivers from the partition's resume point on, while `goesOn` returns true; returns whether it has reached
 *   the end of the partition
 */
export async function runLoad(
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
  work: (context: PartitionContext, goesOn: () => boolean) => Promise<boolean>,
): Promise<LoadResult> {
  const context = await acquirePartition(deps, ref, signal);
  let { done } = context.partition;
  let hold: Hold | null = null;
  if (!done) {
    await recoverPartition(context);
    const deadline = performance.now() + milliseconds('loadTime');
    try {
      done = await work(context, () => performance.now() < deadline);
    } catch (error) {
      if (!(error instanceof GuardExceeded)) throw error;
      hold = error.hold;
    }
  }
  return { done, hold, progress: await deps.ledger.counts.progress(ref.runId) };
}
