/** Records in the ledger that requests and reads of syncs keep failing, so that people are notified while they are retried. */
import type { OnRetry } from '../domain/monitoring/retries.js';
import { milliseconds } from '../domain/timeouts.js';
import type { Runs } from '../ledger/runs/runs.js';

/** For each sync, what is to be told of its retries in place. */
export function recordingInPlace(runs: () => Promise<Pick<Runs, 'recordRetry'>>): (sync: string) => OnRetry {
  const every = milliseconds('retryRecorded');
  const recordedAt = new Map<string, number>();
  return (sync) => (code, failingFor) => {
    const now = performance.now();
    // Most faults are over within moments, and many requests meet the same one.
    if (failingFor < every || now - (recordedAt.get(sync) ?? -Infinity) < every) return;
    recordedAt.set(sync, now);
    const record = async (): Promise<void> => (await runs()).recordRetry(sync, code, failingFor);
    // A ledger that cannot be written to shows in the metrics of the workers.
    record().catch(() => undefined);
  };
}
