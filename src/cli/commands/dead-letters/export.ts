/**
 * `partner-sync dead-letters export`: all dead letters, as CSV for a spreadsheet or as one JSON document.
 *
 * Reads the ledger and writes to stdout only. Needs the ledger's database. Exit codes: 0 done (also if there are none),
 * 1 failed, 2 wrong usage or configuration.
 */
import { once } from 'node:events';
import type { Command } from 'commander';
import type { DeadLetterFilter, StoredDeadLetter } from '../../../domain/records/dead-letter.js';
import type { DeadLetterView } from '../../../ledger/dead-letters.js';
import { EXIT, reportError, withViewParts } from '../../command-context.js';
import { errorCode } from '../../../domain/values/foreign-text.js';
import { assertKnown } from '../../known-sync.js';
import { printable, printableJson } from '../../output/text-table.js';
import { filterOf, withFilter, type FilterFlags } from './filter.js';

/** Dead letters that are in memory at a time. */
const PAGE = 1000;

/** The columns of the CSV. Their order and names are read by scripts: add new ones at the end. */
const COLUMNS: readonly (readonly [string, (deadLetter: StoredDeadLetter) => string | number])[] = [
  ['dead_letter', (l) => l.id],
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
    .summary('export all dead letters as CSV or JSON')
    .description('Writes all dead letters to stdout: CSV, or one JSON document with --json.')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync dead-letters export online-retail --code record_invalid > to-fix.csv\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string], FilterFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        if ((await deadLetters.causes(sync, filterOf(flags))).length === 0)
          await assertKnown(parts, sync, flags.mapping);
        // A slow reader, such as a pager, must not make the whole list pile up in memory.
        const write = async (text: string): Promise<void> => {
          if (!process.stdout.write(text)) await Promise.race([once(process.stdout, 'drain'), closed]);
        };
        const closed = new Promise<void>((resolve) => process.stdout.once('close', resolve));
        const { head, rows, tail } = flags.json === true ? jsonFormat(sync) : CSV;
        try {
          await write(head);
          for await (const page of pagesOf(deadLetters, sync, filterOf(flags))) {
            if (process.stdout.destroyed) return EXIT.done;
            await write(rows(page));
          }
          await write(tail);
        } catch (error) {
          if (errorCode(error) === 'EPIPE') return EXIT.done;
          // The document has begun, so that the error cannot be one of its own.
          return reportError({ ...output, json: false }, error);
        }
        return EXIT.done;
      }),
    );
}

/** All dead letters in pages, since a mistake in a mapping can leave one for every row of a table. */
async function* pagesOf(
  deadLetters: DeadLetterView,
  sync: string,
  filter: DeadLetterFilter,
): AsyncGenerator<readonly StoredDeadLetter[]> {
  let page = await deadLetters.page(sync, filter, '0', PAGE);
  while (page.length > 0) {
    yield page;
    page = await deadLetters.page(sync, filter, page.at(-1)!.id, PAGE);
  }
}

/** How the list is written: what stands before it, its dead letters page by page, and what stands after it. */
interface Format {
  readonly head: string;
  /** Called once for each page, in their order. */
  readonly rows: (page: readonly StoredDeadLetter[]) => string;
  readonly tail: string;
}

function jsonFormat(sync: string): Format {
  let separator = '';
  return {
    head: `{"version":1,"sync":${JSON.stringify(sync)},"deadLetters":[`,
    rows(page) {
      const text = separator + page.map((deadLetter) => printableJson(JSON.stringify(deadLetter))).join(',');
      separator = ',';
      return text;
    },
    tail: ']}\n',
  };
}

/** RFC 4180 asks for CRLF. */
const line = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const CSV: Format = {
  head: line(COLUMNS.map(([name]) => name)),
  rows: (page) => page.map((deadLetter) => line(COLUMNS.map(([, cell]) => cell(deadLetter)))).join(''),
  tail: '',
};

/**
 * A spreadsheet would evaluate text that begins like a formula; a leading apostrophe makes it plain text. Cells come
 * from the source and the platform, so neither can be trusted not to contain one.
 */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = printable(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
