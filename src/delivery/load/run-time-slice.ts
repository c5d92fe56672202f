/** One time slice of a partition: acquires it, settles what dead attempts left open, then works until the slice is over. */
import type { PartitionRef, TimeSliceResult } from '../../domain/run/work.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import type { Dependencies } from '../dependencies.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import { timeSlice, timeSliceResult } from '../time-slice.js';
import { recordingEffort } from '../write-checkpoint.js';
import { recoverPartition } from '../upload/recover-partition.js';

/**
 * @param work continues from the partition's resume point while `shouldContinue` returns true; returns whether it has reached the
 *   end of the partition, which is then noted in the ledger
 */
export async function runTimeSlice(
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
  work: (context: PartitionContext, shouldContinue: () => boolean) => Promise<boolean>,
): Promise<TimeSliceResult> {
  const context = await acquirePartition(deps, ref, signal);
  const { partition } = context;
  if (partition.done) return timeSliceResult(deps, ref, true);
  try {
    const done = await recordingEffort(context, async () => {
      await recoverPartition(context);
      return work(context, timeSlice(signal));
    });
    signal.throwIfAborted();
    if (done) await deps.ledger.partitions.finish(partition);
    return await timeSliceResult(deps, ref, done);
  } catch (error) {
    if (!(error instanceof GuardExceeded)) throw error;
    return timeSliceResult(deps, ref, false, error.hold);
  }
}
