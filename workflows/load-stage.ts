/** One stage of a run: its mappings are loaded side by side, since none of them refers to another. */
import type { RunInput } from '../src/domain/run/run.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { planMapping, activitiesWithSummary } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueAfter } from './continue-run.js';
import type { Completion } from './history-length.js';
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
  const mappings = [...(run.firstPass[stage] ?? []), ...run.stages[stage]!];
  if (input.limit !== undefined) await deliverSampleParents(run, input, mappings, execution);
  await continueAfter(await loadMappings(run, input, stage, execution), run, input, { stagesDone: stage }, execution);
  await pollPendingRecords(
    run,
    { mappings, until: Date.now() + milliseconds('stagePoll'), waitForParents: false },
    execution,
  );
}

/** Loads them side by side. */
export function loadMappings(
  run: CheckedRun,
  input: RunInput,
  stage: number,
  execution: RunExecution,
): Promise<readonly Completion[]> {
  const load = (mapping: string, firstPass: boolean) => () =>
    loadMapping(run, input, { mapping, firstPass }, execution);
  return allOrNone([
    ...(run.firstPass[stage] ?? []).map((mapping) => load(mapping, true)),
    ...run.stages[stage]!.map((mapping) => load(mapping, false)),
  ]);
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
