/** How a run fails: with a code of the error catalogue, in Temporal and in the ledger. */
import { ActivityFailure, ApplicationFailure, CancellationScope, workflowInfo } from '@temporalio/workflow';
import { PartnerSyncError } from '../src/domain/errors.js';
import { isSyncName } from '../src/domain/values/names.js';
import {
  undeliveredLine,
  type RunInput,
  type RunKind,
  type RunOutcome,
  type RunReport,
} from '../src/domain/run/run.js';
import { RUN_MODES, type FailOn, type RunMode } from '../src/domain/sync/sync.js';
import { CANCELLED, type RunFailure, type RunStart } from '../src/domain/run/work.js';
import { recordFailure } from './activities.js';
import { asCancellation, isFromCancellation } from './cancellation.js';

/**
 * Turns what `work` throws into the failure of the workflow. People need to see the code and message of an activity's
 * failure, not that an activity failed.
 */
export async function asRunFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isFromCancellation(error)) throw asCancellation(error);
    if (!(error instanceof PartnerSyncError || error instanceof ActivityFailure)) throw error;
    const { code, message } = codedFailure(error);
    // A PartnerSyncError itself would make Temporal retry the workflow task forever.
    throw ApplicationFailure.nonRetryable(message, code);
  }
}

/** Code and message of the innermost failure that has a code; those around it only say where it came from. */
export function codedFailure(error: unknown): RunFailure {
  if (isFromCancellation(error)) return CANCELLED;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof PartnerSyncError) return { code: at.code, message: at.message };
    if (at instanceof ApplicationFailure) return { code: at.type ?? 'unexpected', message: at.message };
  }
  return { code: 'unexpected', message: error instanceof Error ? error.message : 'unknown failure' };
}

/** The outcomes with which the workflow of a run fails, by the sync's `failOn`. */
const FAILURES: Record<FailOn, readonly RunOutcome[]> = {
  incomplete: ['incomplete'],
  'dead-letters': ['incomplete', 'complete_with_dead_letters'],
  never: [],
};

/**
 * Fails the workflow of a run that has ended with undelivered records, where the sync wants that, so that nobody takes
 * it for a success. The failure carries the report, and the ledger keeps the run's own outcome.
 */
export function throwIfUndelivered(report: RunReport, failOn: FailOn): void {
  if (FAILURES[failOn].includes(report.outcome))
    throw ApplicationFailure.create({
      type: 'run_incomplete',
      message: undeliveredLine(report),
      nonRetryable: true,
      details: [report],
    });
}

/**
 * Runs a step that comes before the ledger has the run. If it fails, the run is recorded there as failed, and the
 * failure is thrown.
 */
export async function recordingFailure<T>(
  kind: RunKind,
  start: RunStart,
  input: unknown,
  step: () => T | Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const known = knownInput(input);
    if (known !== null) {
      const { firstExecutionRunId } = workflowInfo();
      const failed = { kind, input: known, firstExecutionRunId, start, failure: codedFailure(error) };
      // Temporal knows of the failure in any case; the ledger may be what has failed.
      await CancellationScope.nonCancellable(() => recordFailure(failed).catch(() => undefined));
    }
    throw error;
  }
}

/** What can be recorded of an input that may not be valid; null if not even its sync is known. */
function knownInput(input: unknown): RunInput | null {
  const { sync, mode, runsBefore } = (input ?? {}) as Partial<Record<keyof RunInput, unknown>>;
  if (typeof sync !== 'string' || !isSyncName(sync)) return null;
  return {
    sync,
    ...(RUN_MODES.includes(mode as RunMode) && { mode: mode as RunMode }),
    // Without it, the failure would be taken for one of the first run of this workflow, which has ended.
    ...(Number.isSafeInteger(runsBefore) && { runsBefore: runsBefore as number }),
  };
}
