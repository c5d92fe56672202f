/** `partner-sync dead-letters list` and `show`: what could not be delivered, and why. */
import type { Command } from 'commander';
import type { DeadLetterCause, StoredLetter } from '../../../domain/dead-letter.js';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../../../domain/errors.js';
import { count } from '../../arguments.js';
import { EXIT, look } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { printable, table } from '../../table.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

interface ListFlags extends FilterFlags {
  limit?: number;
}

const SHOWN = 20;

export function addList(parent: Command): void {
  withFilter(parent.command('list'))
    .summary('causes, and some of the letters')
    .description('Lists the causes of dead letters, most frequent first, and some of the letters of them.')
    .option('--limit <n>', `how many letters to show (default: ${SHOWN})`, count)
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync dead-letters list online-retail\n  partner-sync dead-letters list online-retail --field /email --since 1d --json\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      look<[string], ListFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        const filter = filterOf(flags);
        const causes = await deadLetters.causes(sync, filter);
        if (causes.length === 0) await assertKnown(parts, sync, flags.mapping);
        const letters = await deadLetters.page(sync, filter, '0', flags.limit ?? SHOWN);
        const total = causes.reduce((n, cause) => n + cause.count, 0);
        output.result({ sync, total, causes, letters }, () => listLines(sync, total, causes, letters, flagsOf(filter)));
        return EXIT.done;
      }),
    );
}

export function addShow(parent: Command): void {
  parent
    .command('show')
    .summary('everything about one letter')
    .description('Shows everything that is known of one dead letter, and what to do.')
    .argument('<sync>', 'folder in the mappings folder')
    .argument('<letter>', 'number of the letter, as list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync dead-letters show online-retail 17')
    .action(
      look<[string, string], { json?: boolean }>(async ({ parts, output }, sync, id) => {
        const letter = /^\d{1,18}$/.test(id) ? await (await parts.ledger()).deadLetters.get(sync, id) : undefined;
        if (letter === undefined)
          throw new PartnerSyncError(
            'input_invalid',
            `there is no dead letter ${id} of ${sync}; a letter closes when its row is delivered. See: partner-sync dead-letters list ${sync}`,
          );
        output.result({ sync, letter }, () => letterLines(letter));
        return EXIT.done;
      }),
    );
}

const second = (iso: string): string => `${iso.slice(0, 19)}Z`;
const times = (n: number, word: string): string => `${n.toLocaleString('en-GB')} ${word}${n === 1 ? '' : 's'}`;

function listLines(
  sync: string,
  total: number,
  causes: readonly DeadLetterCause[],
  letters: readonly StoredLetter[],
  flags: string,
): string[] {
  if (total === 0) return [`no dead letters of ${sync}${flags === '' ? '' : ` with${flags}`}`];
  const lines = [
    `${times(total, 'dead letter')} of ${sync}, ${times(causes.length, 'cause')}`,
    '',
    ...table(
      ['rows', 'mapping', 'field', 'rule', 'code', 'first seen', 'last seen'],
      causes.map((c) => [
        c.count,
        c.mapping,
        c.pointer || '-',
        c.rule,
        c.code,
        second(c.firstSeen),
        second(c.lastSeen),
      ]),
    ),
    '',
    ...table(
      ['letter', 'mapping', 'external id', 'row', 'field', 'shape of the value', 'times', 'last seen'],
      letters.map((l) => [
        l.id,
        l.mapping,
        l.externalId ?? '-',
        l.sourceKey.join(', '),
        l.pointer || '-',
        l.shape || '-',
        l.times,
        second(l.lastSeen),
      ]),
    ),
  ];
  if (total > letters.length)
    lines.push(`  ... and ${times(total - letters.length, 'letter')} more: --limit, or dead-letters export`);
  lines.push('', `When the rows or the mapping are mended: partner-sync dead-letters replay ${sync}${flags}`);
  return lines;
}

/** All about one letter, for people. */
export function letterLines(letter: StoredLetter): string[] {
  const { remedy } = ERROR_CATALOGUE[letter.code as ErrorCode] ?? { remedy: '' };
  const facts: readonly (readonly [string, string])[] = [
    ['record', `${letter.mapping} ${letter.externalId ?? '(no external id)'}`],
    ['tenant', letter.tenant ?? '(none that is known)'],
    ['row', `key ${letter.sourceKey.join(', ')}`],
    ['field', letter.pointer || '(none)'],
    ['rule', letter.rule],
    ['reason', letter.reason],
    ['value', letter.shape || '(not kept)'],
    ['code', letter.code],
    ['seen', `${times(letter.times, 'time')}, first ${second(letter.firstSeen)}, last ${second(letter.lastSeen)}`],
    ['run', `${letter.run}, with version ${letter.mappingVersion} of the files`],
    ['to do', remedy],
    ...letter.missing.map(
      (m) => ['lacks', `${m.schemaName} ${m.externalId}: comes back once it is delivered`] as const,
    ),
  ];
  return [`dead letter ${letter.id}`, ...facts.map(([name, text]) => `  ${name.padEnd(7)} ${printable(text)}`)];
}
