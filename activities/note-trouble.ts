/** Notes in the ledger why a step of a run is tried again, so that people are told while the run still works. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { RunRef } from '../src/domain/work.js';

/** Throws what `work` throws. A ledger that cannot be written to is what the metrics of the workers tell of. */
export async function notingTrouble<T>(
  { ledger }: Dependencies,
  { runId }: Pick<RunRef, 'runId'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A superseded attempt is no trouble: another one is at work.
    if (error instanceof PartnerSyncError && error.retryable && error.code !== 'fenced_off')
      await ledger.runs.noteTrouble(runId, error.code).catch(() => undefined);
    throw error;
  }
}
