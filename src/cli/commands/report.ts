/**
 * `partner-sync report`: what a run did over time, what went wrong, and how it compares with the runs before it.
 *
 * Reads the ledger, and writes nothing but the file of `--html`. Exit codes: 0 done, however the run ended, 1 failed, 2 wrong
 * usage or configuration.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ViewParts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunHistory } from '../../domain/run/run-history.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { historyLines } from '../output/history-lines.js';
import { writeNewFile } from '../output/write-new-file.js';

interface ReportFlags {
  readonly json?: boolean;
  readonly html?: string;
  readonly force?: boolean;
}

const LATEST = 'latest';
/** How many runs an error names. */
const NAMED = 5;

export function addReport(program: Command): void {
  program
    .command('report')
    .summary('show what a run did over time, also as an HTML file')
    .description(
      "Shows a run's rows by outcome, its rate, the causes of its dead letters, its slowest parts, its requests to the platform, and how it compares with the runs before it. Contains no value of a row.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[run]', `id of a run, as status shows it; ${LATEST}: the latest one that was not refused`, LATEST)
    .option('--html <file>', 'write one HTML file with plots, which needs no network')
    .option('--force', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync report online-retail\n  partner-sync report online-retail 17 --html run-17.html\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string, string], ReportFlags>(async ({ parts, output }, sync, run, { html, force = false }) => {
        if (force && html === undefined) throw new PartnerSyncError('input_invalid', '--force needs --html');
        const history = await runOf(parts, sync, run);
        if (html !== undefined) {
          const file = resolve(html);
          // Only now: the plots take a fifth of a second to load.
          const { reportFile } = await import('../../report/report-file.js');
          await writeNewFile(file, reportFile(history), force);
          output.note(`The report of run ${history.run} is in ${file}`);
        }
        output.result(history, () => historyLines(history));
        return EXIT.done;
      }),
    );
}

/** Throws `input_invalid` for a run that the sync does not have. */
async function runOf(parts: ViewParts, sync: string, run: string): Promise<RunHistory> {
  const { runs, runHistories } = await parts.ledger();
  const latest = await runs.latest(sync, NAMED);
  const id = run === LATEST ? ((await runs.latestNotRefused(sync)) ?? latest[0])?.id : run;
  const history = id !== undefined && /^[0-9]{1,18}$/.test(id) ? await runHistories.of(id) : undefined;
  if (history?.sync === sync) return history;
  await assertKnown(parts, sync);
  const which = run === LATEST ? 'no run yet' : `no run ${run}`;
  const others = latest.length === 0 ? '' : `; its latest are ${latest.map((row) => row.id).join(', ')}`;
  throw new PartnerSyncError('input_invalid', `${sync} has ${which} in the ledger${others}`);
}
