/** Continues a long run as a new execution, before Temporal's history of it becomes too large. */
import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { ContinuedRun, RunInput, RunReport } from '../src/domain/run.js';
import type { RunDetails } from './run-details.js';
import type { CheckedRun } from './without-drifted.js';

/** Whether Temporal suggests a new execution; then nothing new is begun in this one. */
export const isHistoryLong = (): boolean => workflowInfo().continueAsNewSuggested;

/** How far a run has come, as far as the ledger does not know it. */
export type RunMark = Pick<ContinuedRun, 'stagesDone' | 'pollUntil'>;

/**
 * If the history is long, ends this execution by throwing `ContinueAsNew`. The next execution has the same workflow
 * type and the same run in the ledger, and goes on at the mark.
 */
export async function continueIfLong(
  run: CheckedRun,
  input: RunInput,
  mark: RunMark,
  details: RunDetails,
): Promise<void> {
  if (!isHistoryLong()) return;
  // A pause is not carried over.
  await details.controls.untilRunning();
  const { runId, stopped, notes } = run;
  const { workflowType } = workflowInfo();
  const continueAs = makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType });
  await continueAs({ ...input, continues: { runId, ...mark, stopped, notes } });
}
