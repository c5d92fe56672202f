/** Records how schedules are, since somebody may pause one in the Web UI, or Temporal after a failure, or skip its runs. */
import { activityInfo, getClient, log } from '@temporalio/activity';
import { ScheduleNotFoundError } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { scheduleOf } from '../src/domain/sync/schedule-id.js';
import { milliseconds } from '../src/domain/timeouts.js';
import type { SeenSchedule } from '../src/ledger/schedules.js';
import { startsOf } from '../src/domain/sync/schedule-starts.js';
import { within } from '../src/observability/within.js';

/** Schedules that Temporal is asked about at once. */
const AT_ONCE = 8;

/** Never rejects, and waits for no more than a few seconds: alerts are evaluated without it. */
export async function recordSchedules(deps: Dependencies): Promise<void> {
  const limit = milliseconds('watchSchedules');
  try {
    await within(
      limit,
      getClient().withDeadline(Date.now() + limit, () => record(deps)),
    );
  } catch (error) {
    log.warn('the schedules of syncs cannot be recorded', {
      error: error instanceof PartnerSyncError ? error.code : error instanceof Error ? error.name : 'unknown',
    });
  }
}

/** Temporal's list lags behind, so it only says which schedules there are beside those that are known. */
async function record({ ledger: { schedules } }: Dependencies): Promise<void> {
  const { ids, at } = await schedules.known();
  const all = new Set(ids);
  for await (const { scheduleId } of getClient().schedule.list())
    if (scheduleOf(scheduleId) !== null) all.add(scheduleId);
  const found = await pLimit(AT_ONCE).map([...all], async (id) => ({ id, seen: await described(id) }));
  await schedules.record(
    found.flatMap(({ seen }) => (typeof seen === 'string' ? [] : [seen])),
    { before: at },
  );
  await schedules.remove(found.filter(({ seen }) => seen === 'gone').map(({ id }) => id));
}

/** Schedules that start runs on another task queue may be of another ledger, and are left to the worker there. */
async function described(id: string): Promise<SeenSchedule | 'gone' | 'of another worker'> {
  try {
    const { action, state, info } = await getClient().schedule.getHandle(id).describe();
    if (action.taskQueue !== activityInfo().taskQueue) return 'of another worker';
    const { skipped, missed } = startsOf(action, info);
    return { id, paused: state.paused, note: state.note ?? null, skipped, missed };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return 'gone';
    throw error;
  }
}
