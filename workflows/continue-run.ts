/** Continues a long run as a new execution, before Temporal's history of it becomes too large. */
import { condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
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
  // Neither a pause nor a hold is carried over, and an Update that is being carried out would be lost.
  do {
    await details.controls.untilRunning();
    await condition(() => details.holds.list.length === 0);
    await details.untilAnswered();
    // An Update that was answered last may have been a pause.
  } while (details.controls.pause !== null);
  const { runId, stopped, notes } = run;
  const { workflowType } = workflowInfo();
  const continueAs = makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType });
  const { notApproved } = details.holds;
  await continueAs({ ...input, continues: { runId, ...mark, notApproved, stopped, notes } });
}
