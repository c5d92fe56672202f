/**
 * `partner-sync changes install`, `status` and `remove`: the change feeds that the files of a sync declare.
 *
 * `install` and `remove` read the catalogue of the source, and print the SQL that an administrator is to run. With --apply
 * they run it themselves, and `remove` also forgets the feeds in the ledger; nothing else in partner-sync changes a source.
 * `status` looks at source and ledger, and writes nothing. None of them needs the platform or Temporal. Exit codes: 0 done,
 * or all feeds can be read; 1 something is in the way or failed, or a feed cannot be read; 2 wrong usage or configuration.
 */
import type { Command } from 'commander';
import { feedStatuses, statusLines } from '../changes/feed-statuses.js';
import { installFeeds, installLines } from '../changes/install-feeds.js';
import { removeFeeds, removeLines } from '../changes/remove-feeds.js';
import { EXIT, withParts, withViewParts } from '../command-context.js';

interface ChangesFlags {
  readonly json?: boolean;
  readonly apply?: boolean;
}

export function addChanges(program: Command): void {
  const changes = program.command('changes');
  changes
    .command('install')
    .description(
      "Prints the SQL that installs the change feeds of a sync, as a script for psql or another client of the database, and what speaks against them. With --apply it runs what is missing, with SOURCE_ADMIN_URL or the sync's own connection.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--apply', 'run the statements, instead of printing them')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync changes install shop > install.sql\n  partner-sync changes install shop --apply\n\nExit codes: 0 printed, or everything is there; 1 something speaks against it, or a statement failed; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], ChangesFlags>(async ({ parts, output }, sync, { apply = false }) => {
        const installed = await installFeeds(parts, sync, apply);
        output.result(installed, () => installLines(installed));
        return installed.blocked || installed.failure !== null ? EXIT.failed : EXIT.done;
      }),
    );
  changes
    .command('status')
    .description(
      'Shows whether the change feeds of a sync can be read, how far they have been, what the source keeps for them, how much of that no run has read, and which changed rows are still to be delivered. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync changes status shop\n\nExit codes: 0 all can be read, and report what their mappings need; 1 something is wrong with one; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string], ChangesFlags>(async ({ parts, output }, sync) => {
        const statuses = await feedStatuses(parts, sync);
        output.result(statuses, () => statusLines(statuses));
        return statuses.ok ? EXIT.done : EXIT.failed;
      }),
    );
  changes
    .command('remove')
    .description(
      'Prints the SQL that removes the change feeds of a sync. With --apply it runs them, and forgets the feeds in the ledger: if they are installed again, every row is read again.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--apply', 'run the statements, instead of printing them, unless a run of the sync is active')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync changes remove shop\n  partner-sync changes remove shop --apply\n\nExit codes: 0 printed, or removed; 1 a run is active, or a statement failed; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], ChangesFlags>(async ({ parts, output }, sync, { apply = false }) => {
        const removed = await removeFeeds(parts, sync, apply);
        output.result(removed, () => removeLines(removed));
        return removed.failure === null ? EXIT.done : EXIT.failed;
      }),
    );
}
