/** Continues a long run as a new execution, before Temporal's history of it becomes too large. */
import { condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { ContinuedRun, RunInput, RunReport } from '../src/domain/run/run.js';
import { completionOf, isHistoryLong, type Completion } from './history-length.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** How far a run has come, as far as the ledger does not know it. */
export type Reached = Pick<ContinuedRun, 'stagesDone' | 'pollUntil' | 'sweep'>;

/**
 * Ends this execution by throwing `ContinueAsNew`. The next execution has the same workflow type and the same run in the
 * ledger, and goes on from there. Nothing else of the run may be under way: an Update that comes while that ends would be
 * answered, and then lost with this execution.
 */
export async function continueRun(
  run: CheckedRun,
  input: RunInput,
  reached: Reached,
  execution: RunExecution,
): Promise<never> {
  // Neither a pause nor a hold is carried over.
  await condition(() => execution.isQuiet);
  const { runId, skipped, notes } = run;
  const { workflowType } = workflowInfo();
  const continueAs = makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType });
  const { notApproved } = execution.holds;
  return continueAs({ ...input, continues: { runId, ...reached, notApproved, skipped, notes } });
}

/** The same if the history is long. */
export const continueIfLong = (...reached: Parameters<typeof continueRun>): Promise<void> =>
  continueAfter([], ...reached);

/** The same if the history is long, or has become so before all of these steps were finished. */
export async function continueAfter(
  steps: readonly Completion[],
  ...reached: Parameters<typeof continueRun>
): Promise<void> {
  if (isHistoryLong() || completionOf(steps) === 'unfinished') await continueRun(...reached);
}
