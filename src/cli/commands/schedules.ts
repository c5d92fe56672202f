/**
 * `partner-sync schedules`: makes Temporal Schedules match what sync.yaml declares, lists and controls them.
 *
 * `apply` reads the sync's files and writes Temporal Schedules; `list` reads Temporal, and the ledger if there is one;
 * `pause`, `resume` and `trigger` write to Temporal. All need Temporal, none needs a worker or the source. Exit codes:
 * 0 done, 1 failed, 2 wrong usage or configuration, or no Temporal server.
 */
import type { Command } from 'commander';
import { openAlerting } from '../../alerts/open-alerting.js';
import type { ViewParts } from '../../composition/parts.js';
import type { ScheduleRuns } from '../../ledger/runs/runs.js';
import type { AuditAction } from '../../domain/run/audit.js';
import { needsWatch } from '../../domain/monitoring/alerts.js';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { withParts, EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { startedBy } from '../actor.js';
import { recordSchedules } from '../schedules/record-schedules.js';
import {
  applySchedules,
  controlSchedules,
  listSchedules,
  SCHEDULE_CONTROLS,
  type SyncSchedule,
} from '../schedules/sync-schedules.js';
import { applyWatch, findWatch } from '../schedules/watch-schedule.js';
import { table } from '../output/text-table.js';

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules');
  schedules
    .command('apply')
    .description(
      "Creates, updates and removes the sync's Temporal Schedules so that they match sync.yaml, and the watch schedule if any sync has alerts or schedules. Applying twice changes nothing; a paused schedule stays paused.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schedules apply online-retail\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const { spec } = await parts.openSync(name);
        const temporal = await connectTemporal(parts.env);
        try {
          const { client, taskQueue } = temporal;
          const { syncs, unreadable } = await openAlerting(parts.env, () => parts.mappingsFolder()).all();
          const applied = [
            ...(await applySchedules(client, taskQueue, name, spec.schedules)),
            ...(await applyWatch(client, taskQueue, syncs.some(needsWatch) || unreadable.length > 0)),
          ];
          await recordSchedules(parts, output, name, 'schedules_applied', applied);
          output.result({ sync: name, schedules: applied }, () => lines(name, applied));
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      }),
    );
  schedules
    .command('list')
    .description(
      "Lists the sync's Temporal Schedules, how their last runs ended, how many runs each has skipped because one was active or missed in an outage, and their next runs; also the watch schedule, which evaluates the alerts of all syncs and looks at their schedules.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .action(
      withViewParts<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const temporal = await connectTemporal(parts.env);
        try {
          const found = await listSchedules(temporal.client, name);
          // A misspelled sync would look like one without schedules.
          if (found.length === 0) await assertKnown(parts, name);
          const runs = await runsOf(parts, found);
          const watch = await findWatch(temporal.client, temporal.taskQueue);
          const schedules = found.map((schedule, i) => ({ ...schedule, ...runs[i] }));
          output.result({ sync: name, schedules, watch }, () => listLines(name, schedules, watch));
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      }),
    );
  for (const control of Object.keys(CONTROLS) as (keyof typeof CONTROLS)[]) addControl(schedules, control);
}

/** The commands that control schedules by hand. Whoever pauses must say why: others find a schedule that starts nothing. */
const CONTROLS = {
  pause: {
    summary: 'Pauses schedules: they start no runs until they are resumed. An active run continues.',
    reason: 'required',
    action: 'schedules_paused',
  },
  resume: {
    summary: 'Resumes paused schedules.',
    reason: 'optional',
    action: 'schedules_resumed',
  },
  trigger: {
    summary: 'Starts a run of a schedule now, as the schedule itself would.',
    reason: 'none',
    action: 'schedules_triggered',
  },
} as const satisfies Record<
  keyof typeof SCHEDULE_CONTROLS,
  { readonly summary: string; readonly reason: 'required' | 'optional' | 'none'; readonly action: AuditAction }
>;

function addControl(schedules: Command, control: keyof typeof CONTROLS): void {
  const { summary, reason: takes, action } = CONTROLS[control];
  const command = schedules
    .command(control)
    .description(summary)
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[name...]', 'schedules by their names in sync.yaml; all of the sync if none is named');
  if (takes !== 'none') {
    const option = command.createOption('--reason <text>', 'why; it is kept as the note of the schedule');
    command.addOption(option.makeOptionMandatory(takes === 'required'));
  }
  command.option('--json', 'print one JSON document').action(
    withParts<[string, string[]], { json?: boolean; reason?: string }>(
      async ({ parts, output }, sync, names, { reason }) => {
        const temporal = await connectTemporal(parts.env);
        try {
          // Schedules outlive the folder of their sync. Without any, the name may be misspelled.
          if ((await listSchedules(temporal.client, sync)).length === 0) await assertKnown(parts, sync);
          const done = await controlSchedules(temporal.client, sync, names, control, noteOf(control, reason));
          const more = { ...(reason !== undefined && { reason }) };
          if (done.length > 0) await recordSchedules(parts, output, sync, action, done, more);
          output.result({ sync, schedules: done }, () => lines(sync, done));
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      },
    ),
  );
}

const noteOf = (control: keyof typeof CONTROLS, reason: string | undefined): string =>
  reason === undefined ? `${SCHEDULE_CONTROLS[control].done} by ${startedBy()}` : `${reason} (${startedBy()})`;

/** How the runs of each schedule have ended, if there is a ledger. */
async function runsOf(parts: ViewParts, schedules: readonly SyncSchedule[]): Promise<ScheduleRuns[]> {
  const ledger = await parts.ledgerIfAny();
  if (ledger === null) return [];
  return Promise.all(schedules.map(({ id }) => ledger.runs.ofSchedule(id)));
}

type ListedSchedule = SyncSchedule & Partial<ScheduleRuns>;

function listLines(sync: string, schedules: readonly ListedSchedule[], watch: SyncSchedule | null): string[] {
  const rowOf = (s: ListedSchedule, last: string, runsSinceSuccess: number | string) => [
    s.id,
    s.paused ? 'yes' : 'no',
    last,
    runsSinceSuccess,
    s.skipped,
    s.missed,
    s.next.join(', ') || '-',
    s.note ?? '',
  ];
  const rows = schedules.map((s) => {
    const { lastOutcome = null, lastEndedAt = null, runsSinceSuccess = 0 } = s;
    const failed = runsSinceSuccess < COUNT_BOUND ? runsSinceSuccess : `more than ${COUNT_BOUND - 1}`;
    return rowOf(s, lastOutcome === null ? '-' : `${lastOutcome} ${minuteOf(lastEndedAt!)}`, failed);
  });
  // Its runs deliver nothing, so the ledger does not know them.
  if (watch !== null) rows.push(rowOf(watch, '-', '-'));
  const none = schedules.length === 0 ? lines(sync, []) : [];
  if (rows.length === 0) return none;
  const columns = [
    'schedule',
    'paused',
    'last run (UTC)',
    'failed since',
    'skipped',
    'missed',
    'next runs (UTC)',
    'note',
  ];
  return [...none, ...table(columns, rows)];
}

const minuteOf = (time: Date): string => time.toISOString().slice(0, 16).replace('T', ' ');

const lines = (sync: string, applied: readonly SyncSchedule[]): string[] =>
  applied.length === 0
    ? [`no schedules for ${sync}`]
    : table(
        ['schedule', '', 'paused', 'next runs (UTC)'],
        applied.map((s) => [s.id, s.action, s.paused ? 'yes' : 'no', s.next.join(', ') || '-']),
      );
