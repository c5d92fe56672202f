/**
 * `partner-sync status`: the latest runs, why they failed, and the state of each mapping of a sync.
 *
 * Reads the ledger, and Temporal for runs that failed before the ledger recorded them; without Temporal the rest is
 * shown. Writes nothing. Exit codes: 0 nothing is wrong, 1 something is wrong with a sync by its limits, its latest run
 * failed, or neither ledger nor Temporal could show a run, 2 wrong usage or configuration, 130 interrupted. A monitoring
 * job can rely on them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ViewParts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { milliseconds } from '../../domain/timeouts.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { removalLines } from '../output/removal-lines.js';
import { reportLines } from '../output/report-lines.js';
import { earlierFilesLines, hasRecordsOfEarlierFiles } from '../runs/earlier-files.js';
import { formerTenants, formerTenantsLines } from '../runs/former-tenants.js';
import { healthLines, healthsOf, type SyncHealth } from '../runs/sync-healths.js';
import { abandonedRun, failingLines, failingSyncs, shownRun } from '../runs/run-status.js';
import { printable, table } from '../output/text-table.js';
import { unrecordedRuns, type Unrecorded } from '../runs/unrecorded-runs.js';

const RUNS_SHOWN = 10;

interface StatusOptions {
  readonly json?: boolean;
  readonly follow?: boolean;
}

export function addStatus(program: Command): void {
  program
    .command('status')
    .description(
      'Shows the latest runs in the ledger, and those that only Temporal knows; with a sync also the positions, waiting records and dead letters of its mappings.',
    )
    .argument('[sync]', 'folder in the mappings folder')
    .argument('[run]', 'id of a run: show its report')
    .option('--follow', 'show it again whenever it changes, until interrupted')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync status\n  partner-sync status online-retail --follow\n  partner-sync status online-retail 17\n\nExit codes: 0 nothing is wrong; 1 something is wrong with a sync, or no run could be looked up; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string | undefined, string | undefined], StatusOptions>(
        async ({ parts, output }, sync, run, { follow = false }) => {
          if (run !== undefined) {
            const { report, lines } = await pastRun(parts, sync!, run);
            output.result(report, () => lines);
            return EXIT.done;
          }
          if (follow && output.json)
            throw new PartnerSyncError('input_invalid', '--follow cannot be combined with --json');
          let shown = '';
          while (true) {
            const status = await statusOf(parts, sync);
            const state = withoutAges(status);
            if (state !== shown) output.result(status, () => [...(shown === '' ? [] : ['']), ...linesOf(status, sync)]);
            shown = state;
            if (!follow) return status.ok ? EXIT.done : EXIT.failed;
            await sleep(milliseconds('statusFollow'));
          }
        },
      ),
    );
}

/** Everything that is shown. `ok` is false if something is wrong, or nothing could be looked up. */
async function statusOf(parts: ViewParts, sync: string | undefined) {
  const ledger = await parts.ledger();
  const latest = await ledger.runs.latest(sync, RUNS_SHOWN);
  if (sync !== undefined && latest.length === 0) await assertKnown(parts, sync);
  const unrecorded = await unrecordedRuns(parts, sync);
  const abandoned = 'abandoned' in unrecorded ? unrecorded.abandoned : [];
  const runs = latest.map((run) => shownRun(abandoned.includes(run.id) ? abandonedRun(run) : run));
  const healths = await healthsOf(parts, sync, abandoned);
  const failing = failingSyncs(runs, 'runs' in unrecorded ? unrecorded.runs : []);
  const mappings = sync === undefined ? [] : await ledger.counts.statuses(sync);
  const removals = sync === undefined ? [] : await ledger.removals.needingAttention(sync);
  const recordsOfEarlierFiles = mappings.length > 0 && (await hasRecordsOfEarlierFiles(parts, ledger, sync!));
  const former = mappings.length === 0 ? [] : await formerTenants(parts, ledger, sync!);
  // An empty ledger and an unreachable Temporal together say nothing about whether runs fail.
  const nothingSeen = runs.length === 0 && 'unknown' in unrecorded;
  const ok = failing.length === 0 && !nothingSeen && healths.every((health) => health.ok);
  return { ok, healths, runs, unrecorded, failing, mappings, recordsOfEarlierFiles, formerTenants: former, removals };
}

type Status = Awaited<ReturnType<typeof statusOf>>;

/** What has to differ for `--follow` to show it again: ages always do. */
const withoutAges = ({ healths, ...status }: Status): string => JSON.stringify([status, healths.map(shownOf)]);

const shownOf = ({ sync, problems, pausedSchedules, pausedRuns, notStarted }: SyncHealth) => [
  sync,
  problems.map(({ trigger }) => trigger),
  pausedSchedules,
  pausedRuns,
  notStarted.map(({ lastAge: _, ...schedule }) => schedule),
];

function linesOf(
  { healths, runs, unrecorded, failing, mappings, recordsOfEarlierFiles, formerTenants: former, removals }: Status,
  sync: string | undefined,
): string[] {
  const activeRuns = runs.filter(({ outcome }) => outcome === 'running').map(({ run }) => run);
  return [
    ...healthLines(healths),
    ...(runs.length === 0
      ? [`no runs${sync === undefined ? '' : ` of ${sync}`} in the ledger yet`]
      : [
          '',
          ...table(
            ['run', 'sync', 'mode', 'outcome', 'started', 'by', 'workflow'],
            runs.map((r) => [r.run, r.sync, r.mode, r.outcome, r.startedAt, r.startedBy ?? '-', r.workflowId]),
          ),
        ]),
    ...unrecordedLines(unrecorded),
    ...failing.flatMap(failingLines),
    ...(mappings.length === 0
      ? []
      : [
          '',
          ...table(
            ['mapping', 'accepted', 'waiting', 'dead-lettered', 'read until', 'position'],
            mappings.map((m) => [
              m.mapping,
              m.accepted,
              m.waiting,
              m.deadLettered,
              m.readUntil?.toISOString() ?? '-',
              m.cursor ?? '-',
            ]),
          ),
        ]),
    ...(recordsOfEarlierFiles ? ['', ...earlierFilesLines(sync!)] : []),
    ...formerTenantsLines(sync!, former),
    ...(removals.length === 0 ? [] : ['', ...removalLines(sync!, removals, activeRuns)]),
  ];
}

/** The report of an earlier run, or why it has none. Throws `input_invalid` for a run that the sync does not have. */
async function pastRun(parts: ViewParts, sync: string, id: string): Promise<{ report: object; lines: string[] }> {
  const { runs } = await parts.ledger();
  const run = /^[0-9]{1,18}$/.test(id) ? await runs.find(id) : undefined;
  if (run?.sync !== sync) {
    await assertKnown(parts, sync);
    throw new PartnerSyncError(
      'input_invalid',
      `${sync} has no run ${id}; partner-sync status ${sync} lists the latest`,
    );
  }
  const shown = shownRun(run);
  if (run.report !== null) return { report: run.report, lines: reportLines(run.report) };
  const end =
    shown.failure === null ? shown.outcome : `${shown.outcome}: ${shown.failure.code}: ${shown.failure.message}`;
  return {
    report: shown,
    lines: [`run ${id} of ${sync} (${shown.mode}), started ${shown.startedAt}: ${printable(end)}`],
  };
}

/** Runs that only Temporal has, or why they are not known. */
function unrecordedLines(unrecorded: Unrecorded): string[] {
  if ('unknown' in unrecorded)
    return ['', `Runs that failed before the ledger recorded them are not shown: ${printable(unrecorded.unknown)}`];
  if (unrecorded.runs.length === 0) return [];
  return [
    '',
    'known to Temporal only:',
    ...table(
      ['workflow', 'sync', 'kind', 'state', 'started', ''],
      unrecorded.runs.map((r) => [
        r.workflowId,
        r.sync ?? '-',
        r.kind,
        stateOf(r.state, r.failure),
        r.startedAt,
        r.failure?.message ?? '',
      ]),
    ),
  ];
}

/** A running workflow that the ledger does not have is retrying its first steps, or no worker has taken it up. */
const stateOf = (state: 'running' | 'failed', failure: object | null): string =>
  state === 'failed' ? 'failed' : failure === null ? 'not started' : 'retrying';
