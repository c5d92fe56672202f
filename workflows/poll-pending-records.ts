/**
 * Polls records without a final outcome: those that the platform keeps pending, and those that are to be sent again.
 */
import { sleep } from '@temporalio/workflow';
import type { RunWait } from '../src/domain/run/run.js';
import { seconds } from '../src/domain/timeouts.js';
import type { OpenedRun, PollPendingResult } from '../src/domain/run/work.js';
import { activitiesWithSummary } from './activities.js';
import { shortSummary } from '../src/domain/run/short-summary.js';
import { waitLine } from '../src/domain/run/wait-line.js';
import type { RunExecution } from './run-execution.js';

/** Which records to poll for, and how long. */
export interface PendingPoll {
  readonly mappings: readonly string[];
  /** When to stop, in milliseconds since 1970. */
  readonly until: number;
  /** Whether to wait for records that are pending for a parent as well, or only for those about to be sent again. */
  readonly waitForParents: boolean;
}

/**
 * Polls, with growing pauses, until nothing is left to wait for or the time is up. Sends every due record once at least.
 *
 * @param betweenPolls called between two polls; a wait of days has to continue as a new execution
 */
export async function pollPendingRecords(
  { runId, sync }: OpenedRun,
  { mappings, until, waitForParents }: PendingPoll,
  execution: RunExecution,
  betweenPolls: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let pause = seconds('pollFirstPause');
  let summary = `waiting records of ${mappings.join(', ')}`;
  while (true) {
    await execution.controls.untilRunning();
    const { interrupted, backlogs } = await activitiesWithSummary(summary).pollPending({ runId, sync, mappings });
    if (interrupted) {
      await betweenPolls();
      continue;
    }
    const open = backlogs.filter((result) => result.dueSoon > 0 || (waitForParents && result.pending > 0));
    const left = (until - Date.now()) / 1000;
    if (open.length === 0 || left <= 0) break;
    await betweenPolls();
    const waits = waitsOf(open, left);
    execution.showWaits(waits);
    if (waits.length > 0) summary = waits.map(waitLine).join('; ');
    if (open.some((result) => result.dueSoon > 0)) pause = Math.min(pause, seconds('pollLongestPauseWhileDue'));
    await sleep(`${Math.min(pause, Math.max(1, left))}s`, { summary: shortSummary(summary) });
    pause = Math.min(seconds('pollLongestPause'), pause * 2);
  }
  execution.showWaits([]);
}

/** What the run shows of the wait. `left`: seconds until it stops polling. */
const waitsOf = (backlogs: PollPendingResult['backlogs'], left: number): RunWait[] =>
  backlogs
    .filter((result) => result.pending > 0)
    .map(({ mapping, pending, parents, pendingFor }) => {
      const wait = Math.max(0, Math.min(left, pendingFor));
      return { mapping, parents, records: pending, until: new Date(Date.now() + wait * 1000).toISOString() };
    });
