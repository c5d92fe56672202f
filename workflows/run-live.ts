/** A run in mode `live`: follows its change feeds until it is told to stop, and closes with a report each day. */
import { CancellationScope, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunReport } from '../src/domain/run/run.js';
import type { OpenedRun } from '../src/domain/run/work.js';
import { closeRun, deliverLast } from './activities.js';
import { isFromCancellation } from './cancellation.js';
import { FeedFollower } from './feed-follower.js';
import type { RunAttributes } from './run-attributes.js';
import type { RunExecution } from './run-execution.js';
import { collectAll } from './with-changes.js';
import { ofAsked, without, withoutDrifted, type CheckedRun } from './without-drifted.js';

/**
 * Being cancelled is how such a run ends: what is left is delivered if that is possible soon, and the report is that of any other
 * run. Otherwise the workflow begins its next run by continuing as a new execution.
 */
export async function runLive(
  opened: OpenedRun,
  input: RunInput,
  execution: RunExecution,
  attributes: RunAttributes,
): Promise<RunReport> {
  const whole = CancellationScope.current();
  let run = without(opened, { skipped: [], notes: [] });
  let isStopped = false;
  try {
    run = await withoutDrifted(opened, input);
    execution.showRun(run);
    const collected = await collectAll(run, execution);
    ({ run } = collected);
    await new FeedFollower(run, input, execution, collected.unloaded).follow();
  } catch (error) {
    if (!isFromCancellation(error)) throw error;
    isStopped = true;
  }
  return CancellationScope.nonCancellable(async () => {
    const { runId, sync } = run;
    const [skipped, notes] = [ofAsked(run, run.skipped), ofAsked(run, run.notes)];
    // A paused run must not be the one to read and send again.
    if (execution.controls.pause === null) await deliverLast(lastOf(run)).catch(() => undefined);
    const report = await closeRun({ runId, sync, skipped, notes, isStopped });
    if (isStopped) return report;
    execution.showReport(report);
    attributes.reported(report);
    // The next run would know nothing of a pause.
    const { controls } = execution;
    await condition(() => execution.isAnswered && (controls.pause === null || whole.consideredCancelled));
    // Whoever has told the run to stop in the meantime means this workflow.
    return whole.consideredCancelled ? report : nextRun(input);
  });
}

/** What the last activity of the run is to deliver. */
const lastOf = ({ runId, sync, stages, polled }: CheckedRun) => ({
  ...{ runId, sync, stages, polled },
  feeds: [],
  skipped: [],
  onHold: [],
  loading: [],
  searching: [],
  isLast: true,
});

/** Continues as a new execution, which opens another run in the ledger. Changed columns were accepted for this run alone. */
async function nextRun({ continues: _, acceptChanges: __, ...input }: RunInput): Promise<never> {
  const { workflowType } = workflowInfo();
  const continueAs = makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType });
  return continueAs({ ...input, runsBefore: (input.runsBefore ?? 0) + 1 });
}
