/** Records in the ledger why a step of a run is retried, so that people are notified while the run still works. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { RunRef } from '../src/domain/run/work.js';

/** Throws what `work` throws. A ledger that cannot be written to shows in the metrics of the workers. */
export async function recordingRetries<T>(
  { ledger }: Dependencies,
  { sync }: Pick<RunRef, 'sync'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // An attempt that was fenced off is not retried: another one is at work.
    if (error instanceof PartnerSyncError && error.retryable && error.code !== 'fenced_off')
      await ledger.runs.recordRetry(sync, error.code, 0).catch(() => undefined);
    throw error;
  }
}
