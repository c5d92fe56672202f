/** Ends a run that has failed, and finds out who has cancelled it, if anybody has. */
import { activityInfo, getClient } from '@temporalio/activity';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { isCancelled, type FailRunInput, type RunFailure, type Stop } from '../src/domain/run/work.js';
import { stopIn } from './run-workflows.js';

/**
 * Records the run as `failed`, and releases its lease. Its partitions and the position stay as they are, so the next run
 * continues there.
 */
export async function failRun({ ledger }: Dependencies, { runId, failure }: FailRunInput): Promise<void> {
  await ledger.runs.end(runId, 'failed', failure, await cancellationOf(failure));
}

/** Who has cancelled the workflow that calls this activity; null if it has failed with anything else. */
export async function cancellationOf(failure: RunFailure): Promise<Stop | null> {
  if (!isCancelled(failure)) return null;
  const unknown: Stop = { action: 'run_cancelled', who: null, reason: null };
  // That it was cancelled is known, even if Temporal does not say by whom.
  return (await stopIn(getClient(), activityInfo().workflowExecution!).catch(() => null)) ?? unknown;
}
