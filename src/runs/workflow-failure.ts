/** Reads from Temporal why a run failed or is being retried. */
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import type { RunReport } from '../domain/run/run.js';

/** The failure for which an activity of the run is being retried; null if there is none or Temporal cannot say. */
export async function retriedFailureOf(handle: WorkflowHandle): Promise<string | null> {
  try {
    const { pendingActivities } = (await handle.describe()).raw;
    return pendingActivities?.find((activity) => (activity.attempt ?? 1) > 1)?.lastFailure?.message ?? null;
  } catch {
    return null;
  }
}

/**
 * The report of a run, once it has ended, also of one that failed only because of its undelivered records. Throws the run's
 * failure with its code.
 */
export async function reportOf(handle: Pick<WorkflowHandle, 'result'>): Promise<RunReport> {
  try {
    return (await handle.result()) as RunReport;
  } catch (error) {
    const report = reportIn(error);
    if (report !== undefined) return report;
    throw fromWorkflow(error);
  }
}

/** The report of a run that failed only because of its undelivered records; undefined for any other failure. */
export function reportIn(error: unknown): RunReport | undefined {
  const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'run_incomplete') return undefined;
  return cause.details?.[0] as RunReport | undefined;
}

/** Errors of a worker's files, variables and drivers, which may differ from those here. */
const OF_WORKER: readonly ErrorCode[] = ['config_invalid', 'driver_missing', 'other_platform'];

/**
 * The failure of a workflow as the error that caused it, with its code: Temporal wraps it in a failure of the workflow
 * and one of the activity. `run_stopped` for a workflow that was cancelled or terminated. Anything else is returned
 * unchanged.
 */
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
  const where = OF_WORKER.includes(code) ? 'where the worker runs: ' : '';
  return new PartnerSyncError(code, `${where}${cause.message}`);
}
