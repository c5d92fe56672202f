/** `partner-sync schedules`: Temporal Schedules exactly as sync.yaml declares them. */
import { ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';
import type { Command } from 'commander';
import type { ScheduleConfig } from '../../domain/sync.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { action, EXIT } from '../command-context.js';
import { table } from '../table.js';

const OVERLAPS = { skip: ScheduleOverlapPolicy.SKIP, 'buffer-one': ScheduleOverlapPolicy.BUFFER_ONE } as const;
const NEXT_SHOWN = 3;

interface AppliedSchedule {
  readonly id: string;
  readonly action: 'created' | 'updated' | 'removed' | 'found';
  readonly paused: boolean;
  readonly next: readonly string[];
}

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').summary('scheduled runs');
  schedules
    .command('apply')
    .description(
      "Creates, updates and removes the sync's Temporal Schedules so that they are what sync.yaml says. Applying twice changes nothing; a schedule that was paused stays paused.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schedules apply online-retail\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      action<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const { spec } = await parts.openSync(name);
        const temporal = await connectTemporal(parts.env);
        try {
          const applied = await applySchedules(temporal.client, temporal.taskQueue, name, spec.schedules);
          output.result({ sync: name, schedules: applied }, () => lines(name, applied));
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      }),
    );
  schedules
    .command('list')
    .description("Lists the sync's Temporal Schedules and their next runs.")
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .action(
      action<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const temporal = await connectTemporal(parts.env);
        try {
          const found = await Promise.all(
            (await idsOf(temporal.client, name)).map((id) => described(temporal.client, id, 'found')),
          );
          output.result({ sync: name, schedules: found }, () => lines(name, found));
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      }),
    );
}

const prefixOf = (sync: string): string => `partner-sync/${sync}/`;

const lines = (sync: string, applied: readonly AppliedSchedule[]): string[] =>
  applied.length === 0
    ? [`no schedules for ${sync}`]
    : table(
        ['schedule', '', 'paused', 'next runs (UTC)'],
        applied.map((s) => [s.id, s.action, s.paused ? 'yes' : 'no', s.next.join(', ') || '-']),
      );

async function applySchedules(
  client: Client,
  taskQueue: string,
  sync: string,
  declared: readonly ScheduleConfig[],
): Promise<AppliedSchedule[]> {
  const existing = new Set(await idsOf(client, sync));
  const results: AppliedSchedule[] = [];
  for (const schedule of declared) {
    const options = optionsOf(sync, taskQueue, schedule);
    const handle = client.schedule.getHandle(options.scheduleId);
    if (existing.delete(options.scheduleId)) {
      // Whoever paused it in the Web UI had a reason.
      await handle.update(({ state }) => ({
        ...options,
        state: { paused: state.paused, ...(state.note !== undefined && { note: state.note }) },
      }));
      results.push(await described(client, options.scheduleId, 'updated'));
    } else {
      await client.schedule.create(options);
      results.push(await described(client, options.scheduleId, 'created'));
    }
  }
  for (const id of existing) {
    await client.schedule.getHandle(id).delete();
    results.push({ id, action: 'removed', paused: false, next: [] });
  }
  return results;
}

function optionsOf(sync: string, taskQueue: string, schedule: ScheduleConfig): ScheduleOptions {
  return {
    scheduleId: `${prefixOf(sync)}${schedule.name}`,
    spec: {
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
    },
    policies: {
      overlap: OVERLAPS[schedule.overlap],
      // After an outage the position catches up, not the schedule: Temporal's default would start a year of runs.
      catchupWindow: `${schedule.catchupWindow}s`,
      pauseOnFailure: schedule.pauseOnFailure,
    },
  };
}

async function idsOf(client: Client, sync: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list())
    if (scheduleId.startsWith(prefixOf(sync))) ids.push(scheduleId);
  return ids.sort();
}

async function described(client: Client, id: string, what: AppliedSchedule['action']): Promise<AppliedSchedule> {
  const { info, state } = await client.schedule.getHandle(id).describe();
  const next = info.nextActionTimes
    .slice(0, NEXT_SHOWN)
    .map((time) => time.toISOString().slice(0, 16).replace('T', ' '));
  return { id, action: what, paused: state.paused, next };
}
