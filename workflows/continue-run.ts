/** Continues a long run as a new execution, before Temporal's history of it becomes too large. */
import { condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { ContinuedRun, RunInput, RunReport } from '../src/domain/run.js';
import { isHistoryLong } from './history-length.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** How far a run has come, as far as the ledger does not know it. */
export type Reached = Pick<ContinuedRun, 'stagesDone' | 'pollUntil' | 'sweep'>;

/**
 * If the history is long, ends this execution by throwing `ContinueAsNew`. The next execution has the same workflow
 * type and the same run in the ledger, and goes on from there.
 */
export async function continueIfLong(
  run: CheckedRun,
  input: RunInput,
  reached: Reached,
  execution: RunExecution,
): Promise<void> {
  if (!isHistoryLong()) return;
  // Neither a pause nor a hold is carried over, and an Update that is being carried out would be lost.
  do {
    await execution.controls.untilRunning();
    await condition(() => execution.holds.list.length === 0 && !execution.smallTenants.inProgress);
    await execution.untilAnswered();
    // An Update that was answered last may have been a pause.
  } while (execution.controls.pause !== null);
  const { runId, stopped, notes } = run;
  const { workflowType } = workflowInfo();
  const continueAs = makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType });
  const { notApproved } = execution.holds;
  await continueAs({ ...input, continues: { runId, ...reached, notApproved, stopped, notes } });
}
