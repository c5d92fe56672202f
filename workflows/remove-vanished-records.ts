/** The last step of a run that finds deleted rows: records whose rows have vanished from the source. */
import type { RunInput } from '../src/domain/run/run.js';
import type { RemoveVanishedInput } from '../src/domain/run/work.js';
import type { Hold } from '../src/domain/sync/guard.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { activitiesWithSummary } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueAfter, type Reached } from './continue-run.js';
import { isHistoryLong, type Completion } from './history-length.js';
import { pollPendingRecords } from './poll-pending-records.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/**
 * Marks them as removed, children before parents, and only once every row that the run reads has its outcome. A mirror run looks
 * for them among all records; one that goes by change feeds, among those of the changed rows.
 */
export async function removeVanishedRecords(
  run: CheckedRun,
  input: RunInput,
  reached: Reached,
  execution: RunExecution,
): Promise<void> {
  const among = run.mode === 'mirror' ? 'all' : 'changed_rows';
  const fed = run.feeds.flatMap(({ mappings }) => mappings);
  const stages = run.stages.map((stage) => (among === 'all' ? stage : stage.filter((name) => fed.includes(name))));
  for (const mappings of stages.filter((stage) => stage.length > 0).reverse()) {
    const removed = await allOrNone(mappings.map((mapping) => () => removeOf(run, mapping, among, execution)));
    await continueAfter(removed, run, input, reached, execution);
    await pollPendingRecords(
      run,
      { mappings, until: Date.now() + milliseconds('stagePoll'), waitForParents: false },
      execution,
    );
  }
}

async function removeOf(
  run: CheckedRun,
  mapping: string,
  among: RemoveVanishedInput['among'],
  execution: RunExecution,
): Promise<Completion> {
  const { runId, sync } = run;
  const input = { runId, sync, mapping, among };
  let hold: Hold | null | 'unfinished';
  do {
    hold = await removeUntilOnHold(input, execution);
    if (hold === 'unfinished') return hold;
  } while (hold !== null && (await execution.holds.untilApproved(run, hold)));
  return 'finished';
}

/** Works on one mapping until it is done (null), needs approval, or the history is long. */
export async function removeUntilOnHold(
  input: RemoveVanishedInput,
  execution: RunExecution,
): Promise<Hold | null | 'unfinished'> {
  while (true) {
    await execution.controls.untilRunning();
    if (isHistoryLong()) return 'unfinished';
    const activities = activitiesWithSummary(`${input.mapping}: records whose rows have vanished`);
    const { progress, hold, done } = await activities.removeVanished(input);
    execution.showLoaded(progress);
    if (hold !== null) return hold;
    if (done) return null;
  }
}
