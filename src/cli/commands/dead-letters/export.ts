/** `partner-sync dead-letters export`: all of them, as CSV for a spreadsheet or as one JSON document. */
import { once } from 'node:events';
import type { Command } from 'commander';
import type { StoredLetter } from '../../../domain/dead-letter.js';
import { EXIT, look } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { printable } from '../../table.js';
import { filterOf, withFilter, type FilterFlags } from './filter.js';

const PAGE = 1000;

const COLUMNS: readonly (readonly [string, (letter: StoredLetter) => string | number])[] = [
  ['letter', (l) => l.id],
  ['mapping', (l) => l.mapping],
  ['tenant', (l) => l.tenant ?? ''],
  ['external_id', (l) => l.externalId ?? ''],
  ['source_key', (l) => (l.sourceKey.length === 1 ? l.sourceKey[0]! : JSON.stringify(l.sourceKey))],
  ['code', (l) => l.code],
  ['field', (l) => l.pointer],
  ['rule', (l) => l.rule],
  ['reason', (l) => l.reason],
  ['shape', (l) => l.shape],
  ['times', (l) => l.times],
  ['first_seen', (l) => l.firstSeen],
  ['last_seen', (l) => l.lastSeen],
  ['run', (l) => l.run],
  ['mapping_version', (l) => l.mappingVersion],
];

export function addExport(parent: Command): void {
  withFilter(parent.command('export'))
    .summary('all letters, as CSV or JSON')
    .description('Writes all dead letters to stdout: CSV, or one JSON document with --json.')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync dead-letters export online-retail --code record_invalid > to-mend.csv\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      look<[string], FilterFlags>(async ({ parts }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        if ((await deadLetters.causes(sync, filterOf(flags))).length === 0)
          await assertKnown(parts, sync, flags.mapping);
        const write = async (text: string): Promise<void> => {
          if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        };
        let first = true;
        const json = flags.json === true;
        await write(
          json ? `{"version":1,"sync":${JSON.stringify(sync)},"letters":[` : line(COLUMNS.map(([name]) => name)),
        );
        // Page by page: a mapping bug can leave a letter for every row of a table.
        for (let after = '0'; ;) {
          const page = await deadLetters.page(sync, filterOf(flags), after, PAGE);
          if (page.length === 0) break;
          await write(
            json
              ? `${first ? '' : ','}${page.map((letter) => JSON.stringify(letter)).join(',')}`
              : page.map((letter) => line(COLUMNS.map(([, cell]) => cell(letter)))).join(''),
          );
          first = false;
          after = page.at(-1)!.id;
        }
        if (json) await write(']}\n');
        return EXIT.done;
      }),
    );
}

const line = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** A text that begins like a formula would be run by a spreadsheet: an apostrophe in front keeps it a text. */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = printable(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
