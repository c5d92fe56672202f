/** One stage of a run: its mappings are loaded side by side, since none of them refers to another. */
import type { RunInput } from '../src/domain/run/run.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { planMapping, activitiesWithSummary } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueAfter } from './continue-run.js';
import { loadMapping } from './load-mapping.js';
import { pollPendingRecords } from './poll-pending-records.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/**
 * Loads the stage with this index, then polls its records that are about to be sent again, since the next stage needs
 * them.
 */
export async function loadStage(
  run: CheckedRun,
  input: RunInput,
  stage: number,
  execution: RunExecution,
): Promise<void> {
  const full = run.stages[stage]!;
  const firstPass = run.firstPass[stage] ?? [];
  const mappings = [...firstPass, ...full];
  if (input.limit !== undefined) await deliverSampleParents(run, input, mappings, execution);
  const load = (mapping: string, isFirstPass: boolean) => () =>
    loadMapping(run, input, { mapping, firstPass: isFirstPass }, execution);
  const loads = [...firstPass.map((mapping) => load(mapping, true)), ...full.map((mapping) => load(mapping, false))];
  await continueAfter(await allOrNone(loads), run, input, { stagesDone: stage }, execution);
  await pollPendingRecords(
    run,
    { mappings, until: Date.now() + milliseconds('stagePoll'), waitForParents: false },
    execution,
  );
}

/** A sample includes the parents of its rows. One mapping after the other, since several may share a parent. */
async function deliverSampleParents(
  run: CheckedRun,
  input: RunInput,
  mappings: readonly string[],
  execution: RunExecution,
): Promise<void> {
  const { runId, sync, mode } = run;
  for (const mapping of mappings) {
    await execution.controls.untilRunning();
    await planMapping({ runId, sync, mapping, mode, input });
    await execution.controls.untilRunning();
    await activitiesWithSummary(`${mapping}: parents of the sample`).deliverParents({ runId, sync, mapping });
  }
}
