/**
 * The watch schedule: each minute, it evaluates all syncs with alerts, so that one that stopped running is noticed too, and
 * records how schedules are.
 */
import { ScheduleNotFoundError, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';
import { seconds } from '../../domain/timeouts.js';
import { described, type SyncSchedule } from './sync-schedules.js';

/** One for each task queue, whose workers share a mappings folder. It has not the form of the schedules of a sync. */
export const watchScheduleId = (taskQueue: string): string => `partner-sync-watch/${taskQueue}`;

/** The watch schedule as it is; null if there is none. */
export async function findWatch(client: Client, taskQueue: string): Promise<SyncSchedule | null> {
  try {
    return await described(client, watchScheduleId(taskQueue), 'found');
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/**
 * Creates or updates the watch schedule if any sync has alerts or schedules, and removes it otherwise. A paused one stays paused.
 * Returns what was done; nothing if there is none and none is needed.
 */
export async function applyWatch(client: Client, taskQueue: string, isNeeded: boolean): Promise<SyncSchedule[]> {
  const options = optionsOf(taskQueue);
  const id = options.scheduleId;
  const existing = await findWatch(client, taskQueue);
  if (existing === null && !isNeeded) return [];
  if (existing === null) {
    await client.schedule.create(options);
    return [await described(client, id, 'created')];
  }
  const handle = client.schedule.getHandle(id);
  if (!isNeeded) {
    await handle.delete();
    return [{ ...existing, action: 'removed', paused: false, note: null, next: [] }];
  }
  await handle.update(({ state }) => ({
    ...options,
    state: { paused: state.paused, ...(state.paused ? { note: state.note } : options.state) },
  }));
  return [await described(client, id, 'updated')];
}

const optionsOf = (taskQueue: string): ScheduleOptions => ({
  scheduleId: watchScheduleId(taskQueue),
  spec: { intervals: [{ every: `${seconds('watchEvery')}s` }] },
  action: {
    type: 'startWorkflow',
    workflowType: 'watch',
    workflowId: `watch/${taskQueue}`,
    taskQueue,
    args: [],
    workflowExecutionTimeout: `${seconds('watchWorkflow')}s`,
    staticSummary: 'Evaluates the alerts of all syncs, and looks at their schedules',
  },
  state: { note: 'evaluates the alerts of all syncs, and looks at their schedules; schedules apply keeps it' },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: `${seconds('watchCatchup')}s` },
});
