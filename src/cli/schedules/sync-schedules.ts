/** The Temporal Schedules of a sync: lists them, and makes them match what sync.yaml declares. */
import { ScheduleOverlapPolicy, type Client, type ScheduleHandle, type ScheduleOptions } from '@temporalio/client';
import { formatSeconds } from '../../domain/values/duration.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { scheduleId, scheduleOf } from '../../domain/sync/schedule-id.js';
import { searchAttributesOf } from '../../domain/run/search-attributes.js';
import type { ScheduleConfig } from '../../domain/sync/sync.js';
import { startsOf } from '../../domain/sync/schedule-starts.js';
import { seconds } from '../../domain/timeouts.js';
import { usableAttributes } from '../../observability/search-attributes.js';

/**
 * The names in sync.yaml for what Temporal does when a run is due while the last one is still working. Its other
 * policies would pile up runs, start some that fail with `run_in_progress`, or cancel the one that is working.
 */
const OVERLAPS = { skip: ScheduleOverlapPolicy.SKIP, 'buffer-one': ScheduleOverlapPolicy.BUFFER_ONE } as const;
/** Next runs that are shown of each schedule. */
const NEXT_SHOWN = 3;

/** A schedule of a sync, and what was done with it. `next` has the times in UTC, to the minute. */
export interface SyncSchedule {
  readonly id: string;
  readonly action: 'created' | 'updated' | 'removed' | 'found' | 'paused' | 'resumed' | 'triggered';
  readonly paused: boolean;
  /** Why it is paused, or when it starts runs; null if nobody has said. */
  readonly note: string | null;
  readonly next: readonly string[];
  /** Runs that it has not started: because one was still working, and because an outage lasted too long. */
  readonly skipped: number;
  readonly missed: number;
}

/** The sync's schedules as they are, sorted by id. */
export async function listSchedules(client: Client, sync: string): Promise<SyncSchedule[]> {
  return Promise.all((await idsOf(client, sync)).map((id) => described(client, id, 'found')));
}

/** What can be done with a schedule by hand, beside what sync.yaml declares. */
export const SCHEDULE_CONTROLS = {
  pause: { done: 'paused', act: (handle: ScheduleHandle, note: string) => handle.pause(note) },
  resume: { done: 'resumed', act: (handle: ScheduleHandle, note: string) => handle.unpause(note) },
  trigger: {
    done: 'triggered',
    // Without its own policy, Temporal would start a run beside one that is working, and not pause the schedule if it fails.
    act: async (handle: ScheduleHandle) => handle.trigger((await handle.describe()).policies.overlap),
  },
} as const;

/**
 * Pauses, resumes or triggers the schedules that are named, or all of the sync. `note` is kept with those that are
 * paused or resumed. Throws `input_invalid` for a name that the sync does not have; nothing is done then.
 */
export async function controlSchedules(
  client: Client,
  sync: string,
  names: readonly string[],
  control: keyof typeof SCHEDULE_CONTROLS,
  note: string,
): Promise<SyncSchedule[]> {
  const ids = await idsOf(client, sync);
  const known = ids.map((id) => scheduleOf(id)!.name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new PartnerSyncError(
      'input_invalid',
      `${sync} has no schedule "${unknown}" in Temporal; there are: ${known.join(', ') || 'none (partner-sync schedules apply creates them)'}`,
    );
  const { done, act } = SCHEDULE_CONTROLS[control];
  const chosen = names.length === 0 ? ids : names.map((name) => scheduleId(sync, name));
  const results: SyncSchedule[] = [];
  for (const id of chosen) {
    await act(client.schedule.getHandle(id), note);
    results.push(await described(client, id, done));
  }
  return results;
}

/** Creates and updates what is declared, then deletes the sync's other schedules, which sync.yaml no longer has. */
export async function applySchedules(
  client: Client,
  taskQueue: string,
  sync: string,
  declared: readonly ScheduleConfig[],
): Promise<SyncSchedule[]> {
  const registered = await usableAttributes(client);
  const existing = new Set(await idsOf(client, sync));
  const results: SyncSchedule[] = [];
  for (const schedule of declared) {
    const options = optionsOf(sync, taskQueue, schedule, registered);
    const handle = client.schedule.getHandle(options.scheduleId);
    if (existing.delete(options.scheduleId)) {
      // Somebody may have paused it in the Web UI for a reason, so it stays paused, with its note.
      await handle.update(({ state }) => ({
        ...options,
        state: { paused: state.paused, ...(state.paused ? { note: state.note } : options.state) },
      }));
      results.push(await described(client, options.scheduleId, 'updated'));
    } else {
      await client.schedule.create(options);
      results.push(await described(client, options.scheduleId, 'created'));
    }
  }
  for (const id of existing) {
    results.push({ ...(await described(client, id, 'removed')), paused: false, note: null, next: [] });
    await client.schedule.getHandle(id).delete();
  }
  return results;
}

/**
 * The schedule as Temporal takes it. Runs that it starts have the workflow id `sync-<sync>-<schedule>` and the time.
 */
function optionsOf(
  sync: string,
  taskQueue: string,
  schedule: ScheduleConfig,
  registered: readonly string[],
): ScheduleOptions {
  return {
    scheduleId: scheduleId(sync, schedule.name),
    spec: isAlwaysOn(schedule)
      ? { intervals: [{ every: `${seconds('liveRestart')}s` }] }
      : {
          ...(schedule.cron !== null && { cronExpressions: [schedule.cron] }),
          ...(schedule.every !== null && { intervals: [{ every: `${schedule.every}s` }] }),
          timezone: schedule.timezone,
          jitter: `${schedule.jitter}s`,
        },
    action: {
      type: 'startWorkflow',
      workflowType: 'sync',
      workflowId: `sync-${sync}-${schedule.name}`,
      taskQueue,
      args: [{ sync, mode: schedule.mode }],
      staticSummary: `${schedule.mode} run of ${sync}, by its schedule ${schedule.name}`,
      staticDetails: `- sync: **${sync}**\n- mode: ${schedule.mode}\n- schedule: ${schedule.name} (${whenOf(schedule)})`,
      typedSearchAttributes: searchAttributesOf({ sync, mode: schedule.mode, trigger: 'schedule' }, registered),
    },
    state: { note: `${whenOf(schedule)}; declared in ${sync}/sync.yaml` },
    policies: {
      overlap: OVERLAPS[schedule.overlap],
      // After an outage, one run catches up from the position. Temporal's default window is a year, and each missed run
      // would start.
      catchupWindow: `${schedule.catchupWindow}s`,
      pauseOnFailure: schedule.pauseOnFailure,
    },
  };
}

/** Whether it starts a run whenever none is active: skipping is all that it does then. */
const isAlwaysOn = ({ cron, every }: ScheduleConfig): boolean => cron === null && every === null;

/** When a schedule starts runs, as sync.yaml says it. */
function whenOf({ cron, every, timezone }: ScheduleConfig): string {
  if (cron !== null) return `cron ${cron}, ${timezone}`;
  return every === null ? 'always on' : `every ${formatSeconds(every)}`;
}

/** Ids of the sync's schedules, sorted. */
async function idsOf(client: Client, sync: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId: id } of client.schedule.list()) if (scheduleOf(id)?.sync === sync) ids.push(id);
  return ids.sort();
}

/** A schedule as it is now. Throws `ScheduleNotFoundError`. */
export async function described(client: Client, id: string, what: SyncSchedule['action']): Promise<SyncSchedule> {
  const { info, state, action: does } = await client.schedule.getHandle(id).describe();
  const { next: times, skipped, missed } = startsOf(does, info);
  const next = times.slice(0, NEXT_SHOWN).map((time) => time.toISOString().slice(0, 16).replace('T', ' '));
  return {
    id,
    action: what,
    paused: state.paused,
    note: state.note ?? null,
    next,
    skipped,
    missed,
  };
}
