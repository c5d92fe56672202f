/** The time slices in which an activity works: each begins new work for about 15 seconds, then the workflow starts another. */
import type { Hold } from '../domain/sync/guard.js';
import { milliseconds } from '../domain/timeouts.js';
import type { RunRef, TimeSliceResult } from '../domain/run/work.js';
import type { Dependencies } from './dependencies.js';

/** Begins a time slice now. The function returns true until the slice is over or `signal` aborts. */
export function timeSlice(signal: AbortSignal): () => boolean {
  const deadline = performance.now() + milliseconds('timeSlice');
  return () => performance.now() < deadline && !signal.aborted;
}

/** The result of a time slice, with the run's progress as it is now. */
export const timeSliceResult = async (
  { ledger }: Pick<Dependencies, 'ledger'>,
  { runId }: Pick<RunRef, 'runId'>,
  done: boolean,
  hold: Hold | null = null,
): Promise<TimeSliceResult> => ({ done, hold, progress: await ledger.counts.progress(runId) });
