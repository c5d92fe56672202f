/** The last step of a mirror run: records whose rows have vanished from the source. */
import type { RunInput } from '../src/domain/run.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { summarized } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueIfLong, isHistoryLong, type RunMark } from './continue-run.js';
import { pollPendingRecords } from './poll-pending-records.js';
import type { RunDetails } from './run-details.js';
import type { CheckedRun } from './without-drifted.js';

/** Marks them as removed, children before parents, and only once every row has been read and settled. */
export async function removeVanishedRecords(
  run: CheckedRun,
  input: RunInput,
  mark: RunMark,
  details: RunDetails,
): Promise<void> {
  for (const mappings of [...run.stages].reverse()) {
    await allOrNone(mappings.map((mapping) => () => removeOf(run, mapping, details)));
    await continueIfLong(run, input, mark, details);
    await pollPendingRecords(
      run,
      { mappings, until: Date.now() + milliseconds('stagePoll'), waitForParents: false },
      details,
    );
  }
}

async function removeOf(run: CheckedRun, mapping: string, details: RunDetails): Promise<void> {
  const { runId, sync } = run;
  let done = false;
  while (!done && !isHistoryLong()) {
    await details.controls.untilRunning();
    const result = await summarized(`${mapping}: records whose rows have vanished`).removeVanished({
      runId,
      sync,
      mapping,
    });
    details.showLoaded(result.progress);
    done = result.hold === null ? result.done : !(await details.holds.untilApproved(run, result.hold));
  }
}
