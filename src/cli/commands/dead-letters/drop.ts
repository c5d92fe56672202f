/**
 * `partner-sync dead-letters drop`: deletes dead letters from the ledger, after asking.
 *
 * Reads and writes the ledger only; the rows and the platform are not touched. Without a terminal it needs `--yes`.
 * Exit codes: 0 done (also if there was nothing to drop), 1 not confirmed or failed, 2 wrong usage or configuration.
 */
import type { Command } from 'commander';
import { quantity } from '../../../domain/values/quantity.js';
import { withParts, EXIT } from '../../command-context.js';
import { thisCommand } from '../../actor.js';
import { assertKnown } from '../../known-sync.js';
import { confirmed } from '../../output/confirmed.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

interface DropFlags extends FilterFlags {
  yes?: boolean;
}

export function addDrop(parent: Command): void {
  withFilter(parent.command('drop'))
    .summary('delete dead letters')
    .description(
      'Deletes dead letters from the ledger. Their rows stay undelivered; a run that reads such a row again delivers it or records a new dead letter.',
    )
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync dead-letters drop online-retail --mapping customers --field /email --yes\n\nExit codes: 0 done; 1 failed, or not confirmed; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], DropFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        const filter = filterOf(flags);
        // Those that come while somebody is asked have not been counted, and stay.
        const newest = await deadLetters.newestOf(sync);
        const found = await deadLetters.count(sync, filter);
        // No dead letters and a misspelled name look the same in the ledger.
        if (found === 0) await assertKnown(parts, sync, flags.mapping);
        if (found > 0 && !flags.yes && !(await confirmed(`${whatHappens(found, sync, flagsOf(filter))} Drop them?`))) {
          output.result({ sync, dropped: 0 }, () => ['nothing was dropped']);
          return EXIT.failed;
        }
        const dropped = found === 0 ? 0 : await deadLetters.drop(sync, filter, newest, thisCommand());
        output.result({ sync, dropped }, () => [
          dropped === 0
            ? `no dead letters of ${sync} to drop`
            : `dropped ${quantity(dropped, 'dead letter')}; the rows stay undelivered`,
        ]);
        return EXIT.done;
      }),
    );
}

const whatHappens = (found: number, sync: string, flags: string): string =>
  `This deletes ${quantity(found, 'dead letter')} of ${sync}${flags}. The rows stay undelivered until a run reads them again.`;
