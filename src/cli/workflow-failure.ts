/** What Temporal knows of a run's trouble, as an error of ours. */
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../domain/errors.js';

/** What the run is stuck on, if something is being tried again: silence would look like progress. */
export async function troubleOf(handle: WorkflowHandle): Promise<string | null> {
  try {
    const { pendingActivities } = (await handle.describe()).raw;
    return pendingActivities?.find((activity) => (activity.attempt ?? 1) > 1)?.lastFailure?.message ?? null;
  } catch {
    return null;
  }
}

/** The failure of the workflow as the error that caused it, with its code. */
export function fromWorkflow(error: unknown): unknown {
  let cause = error instanceof WorkflowFailedError ? error.cause : undefined;
  while (cause instanceof Error && !(cause instanceof ApplicationFailure) && cause.cause instanceof Error)
    cause = cause.cause;
  if (cause instanceof TerminatedFailure) return new PartnerSyncError('run_stopped', `terminated: ${cause.message}`);
  if (cause instanceof CancelledFailure) return new PartnerSyncError('run_stopped', 'cancelled');
  if (!(cause instanceof ApplicationFailure)) return error;
  const code =
    cause.type !== null && cause.type !== undefined && cause.type in ERROR_CATALOGUE
      ? (cause.type as ErrorCode)
      : 'unexpected';
  // The same files and variables may be right here and wrong there.
  const where = code === 'config_invalid' ? 'where the worker runs: ' : '';
  return new PartnerSyncError(code, `${where}${cause.message}`);
}
