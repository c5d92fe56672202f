/** `partner-sync status`: the latest runs, why the last ones failed, and where each mapping of a sync stands. */
import type { Command } from 'commander';
import { EXIT, look } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { removalLines } from '../removal-lines.js';
import { failingLines, failingSyncs, shownRun } from '../run-standing.js';
import { printable, table } from '../table.js';
import { unrecordedRuns, type Unrecorded } from '../unrecorded-runs.js';

const RUNS_SHOWN = 10;

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('latest runs and where each mapping stands')
    .description(
      'Shows the latest runs from the ledger, and those that only Temporal knows; with a sync also the position, waiting records and dead letters of its mappings.',
    )
    .argument('[sync]', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync status online-retail\n\nExit codes: 0 nothing is wrong; 1 the latest run of a sync failed, or nothing is known of any; 2 wrong usage or configuration',
    )
    .action(
      look<[string | undefined], { json?: boolean }>(async ({ parts, output }, sync) => {
        const ledger = await parts.ledger();
        const runs = (await ledger.runs.latest(sync, RUNS_SHOWN)).map(shownRun);
        if (sync !== undefined && runs.length === 0) await assertKnown(parts, sync);
        const unrecorded = await unrecordedRuns(parts, sync);
        const temporal = 'runs' in unrecorded ? unrecorded.runs : [];
        const failing = failingSyncs(runs, temporal);
        const mappings = sync === undefined ? [] : await ledger.books.positions(sync);
        const removals = sync === undefined ? [] : await ledger.removals.waiting(sync);
        output.result({ runs, unrecorded, failing, mappings, removals }, () => [
          ...(runs.length === 0
            ? [`no runs${sync === undefined ? '' : ` of ${sync}`} in the ledger yet`]
            : table(
                ['run', 'sync', 'mode', 'outcome', 'started', 'workflow'],
                runs.map((r) => [r.run, r.sync, r.mode, r.outcome, r.startedAt, r.workflowId]),
              )),
          ...unrecordedLines(unrecorded),
          ...failing.flatMap(failingLines),
          ...(mappings.length === 0
            ? []
            : [
                '',
                ...table(
                  ['mapping', 'accepted', 'waiting', 'dead-lettered', 'position'],
                  mappings.map((m) => [m.mapping, m.accepted, m.waiting, m.deadLettered, m.cursor ?? '-']),
                ),
              ]),
          ...(removals.length === 0 ? [] : ['', ...removalLines(sync!, removals)]),
        ]);
        const nothingSeen = runs.length === 0 && 'unknown' in unrecorded;
        return failing.length > 0 || nothingSeen ? EXIT.failed : EXIT.done;
      }),
    );
}

function unrecordedLines(unrecorded: Unrecorded): string[] {
  if ('unknown' in unrecorded)
    return ['', `Runs that failed before the ledger knew of them cannot be seen: ${printable(unrecorded.unknown)}`];
  if (unrecorded.runs.length === 0) return [];
  return [
    '',
    'known to Temporal, and not in the ledger:',
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

const stateOf = (state: 'running' | 'failed', failure: object | null): string =>
  state === 'failed' ? 'failed' : failure === null ? 'not begun' : 'trying again';
