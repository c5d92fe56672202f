/** Records which schedules are paused, since somebody may pause one in the Web UI, or Temporal after a failure. */
import { activityInfo, getClient, log } from '@temporalio/activity';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { scheduleOf } from '../src/domain/schedule-id.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { within } from '../src/observability/within.js';

/** Never rejects, and waits for no more than a few seconds: alerts are evaluated without it. */
export async function recordPausedSchedules(deps: Dependencies): Promise<void> {
  const limit = milliseconds('watchSchedules');
  try {
    await within(
      limit,
      getClient().withDeadline(Date.now() + limit, () => record(deps)),
    );
  } catch (error) {
    log.warn('the schedules that are paused cannot be recorded', {
      error: error instanceof PartnerSyncError ? error.code : error instanceof Error ? error.name : 'unknown',
    });
  }
}

/** Schedules that start runs on another task queue may be of another ledger, and are left to the worker there. */
async function record({ ledger: { pausedSchedules } }: Dependencies): Promise<void> {
  const { schedule: schedules } = getClient();
  const paused: { id: string; note: string | null }[] = [];
  const others = new Set(await pausedSchedules.ids());
  for await (const { scheduleId: id, state } of schedules.list()) {
    if (!state.paused || scheduleOf(id) === null) continue;
    others.delete(id);
    const { action } = await schedules.getHandle(id).describe();
    if (action.taskQueue === activityInfo().taskQueue) paused.push({ id, note: state.note ?? null });
  }
  await pausedSchedules.add(paused);
  await pausedSchedules.remove([...others]);
}
