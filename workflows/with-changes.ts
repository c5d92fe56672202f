/** Collects what the change feeds of a run have to tell, before anything is read. */
import type { RunInput } from '../src/domain/run/run.js';
import { activitiesWithSummary } from './activities.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** Collects once per run: a continued execution goes on with what the first one has collected. Returns the run with its notes. */
export async function withChanges(
  run: CheckedRun,
  { continues }: RunInput,
  execution: RunExecution,
): Promise<CheckedRun> {
  return continues === undefined ? (await collectAll(run, execution)).run : run;
}

/** Returns the run with its notes, and the mappings of which every row is still to be read. */
export async function collectAll(
  run: CheckedRun,
  execution: RunExecution,
): Promise<{ readonly run: CheckedRun; readonly unloaded: readonly string[] }> {
  const { runId, sync } = run;
  const notes = [...run.notes];
  const unloaded: string[] = [];
  for (const { name } of run.feeds) {
    await execution.controls.untilRunning();
    const collected = await activitiesWithSummary(`changes of ${name}`).collectChanges({
      runId,
      sync,
      feed: name,
      skipped: run.skipped.map(({ mapping }) => mapping),
    });
    notes.push(...collected.notes);
    unloaded.push(...(collected.unloaded ?? []));
  }
  return { run: { ...run, notes }, unloaded };
}
