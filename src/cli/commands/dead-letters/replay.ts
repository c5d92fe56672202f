/**
 * `partner-sync dead-letters replay`: starts a backfill that reads the rows of dead letters again.
 *
 * Needs the ledger, Temporal and a worker. Reads the ledger for the counts; everything else happens in the run, which
 * maps the rows with the current files and closes the dead letters of rows that are delivered or gone. Without dead
 * letters no run is started. Exit codes: those of the run's outcome (0 complete, 1 incomplete or failed, 3 dead letters
 * again; with --detach 0 once it is started), 2 for wrong usage or configuration, 130 when interrupted, which leaves the
 * run going.
 */
import type { Command } from 'commander';
import type { DeadLetterFilter } from '../../../domain/records/dead-letter.js';
import type { RunReport } from '../../../domain/run/run.js';
import type { LedgerView } from '../../../ledger/ledger-view.js';
import { quantity } from '../../../domain/values/quantity.js';
import { announces } from '../../announce.js';
import { withParts, EXIT, EXIT_HELP } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { detachedRun, runToEnd } from '../../runs/run-to-end.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

interface ReplayFlags extends FilterFlags {
  detach?: boolean;
}

export function addReplay(parent: Command): void {
  withFilter(parent.command('replay'))
    .summary('read the rows again and deliver them')
    .description(
      'Starts a run that reads the rows of dead letters again by key, maps them with the current mapping and delivers them. A dead letter closes when its row is delivered or gone.',
    )
    .option('--detach', 'start it and leave; status shows how it goes')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync dead-letters replay online-retail\n  partner-sync dead-letters replay online-retail --mapping customers --field /email\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      announces((sync) => `starting a replay of dead letters of ${sync} ...`),
    )
    .action(
      withParts<[string], ReplayFlags>(async (context, sync, flags) => {
        const { parts, output } = context;
        const { mappings, ...filter } = filterOf(flags);
        const ledger = await parts.ledger();
        const selected = await ledger.deadLetters.count(sync, filterOf(flags));
        if (selected === 0) {
          await assertKnown(parts, sync, mappings);
          output.result({ sync, replayed: 0 }, () => [`no dead letters of ${sync} to replay`]);
          return EXIT.done;
        }
        const input = { sync, ...(mappings && { mappings }), replay: filter };
        if (flags.detach) return detachedRun(context, 'backfill', input);
        return runToEnd(context, 'backfill', input, async (report) => {
          const counts = await countsOf(ledger, report, filter, selected);
          return { fields: counts.fields, lines: replayLines(sync, counts, flagsOf(filterOf(flags))) };
        });
      }),
    );
}

/** What became of the selected dead letters. `fields` are those of the JSON document. */
interface Replayed {
  readonly fields: Readonly<Record<'replayed' | 'gone' | 'waiting' | 'stillDead' | 'leftAlone', number>>;
  readonly delivered: number;
}

/** @param selected how many dead letters there were before the run */
async function countsOf(
  { deadLetters, counts }: LedgerView,
  report: RunReport,
  filter: DeadLetterFilter,
  selected: number,
): Promise<Replayed> {
  // A mapping that was skipped because of schema drift was not read, so its dead letters are neither delivered nor gone.
  const skipped = (report.skipped ?? []).map(({ mapping }) => mapping);
  const leftAlone = skipped.length === 0 ? 0 : await deadLetters.count(report.sync, { ...filter, mappings: skipped });
  const { read, waiting, deadLettered: stillDead, gone: found } = await counts.replayed(report.run);
  // More dead letters may arrive after the count.
  const replayed = Math.max(selected - leftAlone, read);
  // Among the rows that are gone may be those of children that the filter did not select.
  const gone = Math.min(found, replayed - read);
  // What was not read in its turn had been delivered before it, as the child of a row that was.
  return {
    fields: { replayed, gone, waiting, stillDead, leftAlone },
    delivered: replayed - gone - waiting - stillDead,
  };
}

const replayLines = (sync: string, { fields, delivered }: Replayed, flags: string): string[] => [
  '',
  `${quantity(fields.replayed, 'dead letter')} replayed: ${delivered} delivered, ${fields.gone} with rows that are gone, ${fields.waiting} waiting, ${fields.stillDead} dead-lettered again`,
  ...(fields.leftAlone > 0
    ? [
        `${quantity(fields.leftAlone, 'dead letter')} not replayed, as the mappings were skipped because of schema drift`,
      ]
    : []),
  ...(fields.stillDead > 0 ? [`see: partner-sync dead-letters list ${sync}${flags}`] : []),
];
