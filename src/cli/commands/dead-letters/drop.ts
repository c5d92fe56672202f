/** `partner-sync dead-letters drop`: forgets letters, after asking. */
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../../domain/errors.js';
import { action, EXIT } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

interface DropFlags extends FilterFlags {
  yes?: boolean;
}

export function addDrop(parent: Command): void {
  withFilter(parent.command('drop'))
    .summary('forget letters')
    .description(
      'Deletes dead letters from the ledger. Their rows stay undelivered; a run that reads such a row again delivers it, or writes the letter anew.',
    )
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync dead-letters drop online-retail --mapping customers --field /email --yes\n\nExit codes: 0 done; 1 failed, or not confirmed; 2 wrong usage or configuration',
    )
    .action(
      action<[string], DropFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        const filter = filterOf(flags);
        const found = await deadLetters.count(sync, filter);
        if (found === 0) await assertKnown(parts, sync, flags.mapping);
        if (found > 0 && !flags.yes && !(await confirmed(`${whatHappens(found, sync, flagsOf(filter))} Drop them?`))) {
          output.result({ sync, dropped: 0 }, () => ['nothing was dropped']);
          return EXIT.failed;
        }
        const dropped = found === 0 ? 0 : await deadLetters.drop(sync, filter);
        output.result({ sync, dropped }, () => [
          dropped === 0 ? `no dead letters of ${sync} to drop` : `dropped ${dropped}; their rows stay undelivered`,
        ]);
        return EXIT.done;
      }),
    );
}

const whatHappens = (found: number, sync: string, flags: string): string =>
  `This forgets ${found} dead letter${found === 1 ? '' : 's'} of ${sync}${flags}. Their rows stay undelivered until a run reads them again.`;

/** Nobody can answer where there is no terminal: then --yes is needed. */
async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new PartnerSyncError('input_invalid', `${question} Without a terminal to ask on, this needs --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
