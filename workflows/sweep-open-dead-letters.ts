/** A step of a run that has read every row: a dead letter that is still open may be that of a row which is gone. */
import type { RemainingSweep, RunInput } from '../src/domain/run/run.js';
import { activitiesWithSummary } from './activities.js';
import { continueIfLong, type Reached } from './continue-run.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** Closes the dead letters of such rows, from `reached.sweep` on. Returns how far the run has come by then. */
export async function sweepOpenDeadLetters(
  run: CheckedRun,
  input: RunInput,
  reached: Reached & { readonly sweep: RemainingSweep },
  execution: RunExecution,
): Promise<Reached> {
  const { runId, sync } = run;
  let { sweep } = reached;
  while (sweep.mappings.length > 0) {
    await execution.controls.untilRunning();
    sweep = await activitiesWithSummary('dead letters of rows that are gone').sweepDeadLetters({
      runId,
      sync,
      ...sweep,
    });
    await continueIfLong(run, input, { ...reached, sweep }, execution);
  }
  return { ...reached, sweep };
}
