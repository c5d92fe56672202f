/** Ends a run that failed or was cancelled, and releases its lease. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import type { AbandonInput } from '../src/domain/work.js';

/**
 * Records the run as `failed`, with its reason. Its partitions and the position stay as they are, so the next run
 * continues there. Calling it again changes nothing.
 */
export async function abandonRun({ ledger }: Dependencies, { runId, failure }: AbandonInput): Promise<void> {
  await ledger.runs.end(runId, 'failed', failure);
}
