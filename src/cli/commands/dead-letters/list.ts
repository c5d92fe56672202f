/**
 * `partner-sync dead-letters list` and `show`: which rows could not be delivered, and why.
 *
 * Both read the ledger only. Exit codes: 0 done (also if there are none), 1 failed, 2 wrong usage, or `show` for an id
 * that does not exist.
 */
import type { Command } from 'commander';
import type { DeadLetterCause, StoredDeadLetter } from '../../../domain/records/dead-letter.js';
import { quantity } from '../../../domain/values/quantity.js';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../../../domain/errors.js';
import { count } from '../../arguments.js';
import { EXIT, withViewParts } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { printable, table } from '../../output/text-table.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

interface ListFlags extends FilterFlags {
  limit?: number;
}

/** Dead letters in a list by default: one screen. The causes above them are always complete. */
const SHOWN = 20;

export function addList(parent: Command): void {
  withFilter(parent.command('list'))
    .summary('list causes, and some of the dead letters')
    .description('Lists the causes of dead letters, most frequent first, and some of the dead letters.')
    .option('--limit <n>', `how many dead letters to show (default: ${SHOWN})`, count)
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync dead-letters list online-retail\n  partner-sync dead-letters list online-retail --field /email --since 1d --json\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string], ListFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        const filter = filterOf(flags);
        const causes = await deadLetters.causes(sync, filter);
        if (causes.length === 0) await assertKnown(parts, sync, flags.mapping);
        const shown = await deadLetters.page(sync, filter, '0', flags.limit ?? SHOWN);
        const total = causes.reduce((n, cause) => n + cause.count, 0);
        output.result({ sync, total, causes, deadLetters: shown }, () =>
          listLines(sync, total, causes, shown, flagsOf(filter)),
        );
        return EXIT.done;
      }),
    );
}

export function addShow(parent: Command): void {
  parent
    .command('show')
    .summary('show everything about one dead letter')
    .description('Shows everything that is known about one dead letter, and what to do.')
    .argument('<sync>', 'folder in the mappings folder')
    .argument('<id>', 'id of the dead letter, as list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync dead-letters show online-retail 17')
    .action(
      withViewParts<[string, string], { json?: boolean }>(async ({ parts, output }, sync, id) => {
        // Anything else cannot be an id, and would make PostgreSQL reject the query.
        const deadLetter = /^\d{1,18}$/.test(id) ? await (await parts.ledger()).deadLetters.get(sync, id) : undefined;
        if (deadLetter === undefined)
          throw new PartnerSyncError(
            'input_invalid',
            `there is no dead letter ${id} of ${sync}; dead letters close when their rows are delivered. See: partner-sync dead-letters list ${sync}`,
          );
        output.result({ sync, deadLetter }, () => deadLetterLines(deadLetter));
        return EXIT.done;
      }),
    );
}

/** Milliseconds say nothing here and would widen the table. */
const second = (iso: string): string => `${iso.slice(0, 19)}Z`;

function listLines(
  sync: string,
  total: number,
  causes: readonly DeadLetterCause[],
  shown: readonly StoredDeadLetter[],
  flags: string,
): string[] {
  if (total === 0) return [`no dead letters of ${sync}${flags === '' ? '' : ` with${flags}`}`];
  const lines = [
    `${quantity(total, 'dead letter')} of ${sync}, ${quantity(causes.length, 'cause')}`,
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
      ['id', 'mapping', 'external id', 'row', 'field', 'shape of the value', 'times', 'last seen'],
      shown.map((l) => [
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
  if (total > shown.length)
    lines.push(`  ... and ${quantity(total - shown.length, 'more', 'more')}: use --limit, or dead-letters export`);
  lines.push('', `When the rows or the mapping are fixed: partner-sync dead-letters replay ${sync}${flags}`);
  return lines;
}

/** Everything about one dead letter, for people. The remedy is empty for a code that this version does not know. */
export function deadLetterLines(deadLetter: StoredDeadLetter): string[] {
  const { remedy } = ERROR_CATALOGUE[deadLetter.code as ErrorCode] ?? { remedy: '' };
  const facts: readonly (readonly [string, string])[] = [
    ['record', `${deadLetter.mapping} ${deadLetter.externalId ?? '(no external id)'}`],
    ['tenant', deadLetter.tenant ?? '(unknown)'],
    ['row', `key ${deadLetter.sourceKey.join(', ')}`],
    ['field', deadLetter.pointer || '(none)'],
    ['rule', deadLetter.rule],
    ['reason', deadLetter.reason],
    ['value', deadLetter.shape || '(not kept)'],
    ['code', deadLetter.code],
    [
      'seen',
      `${quantity(deadLetter.times, 'time')}, first ${second(deadLetter.firstSeen)}, last ${second(deadLetter.lastSeen)}`,
    ],
    ['run', `${deadLetter.run}, with version ${deadLetter.mappingVersion} of the sync's files`],
    ['to do', remedy],
    ...deadLetter.missing.map(
      (m) => ['lacks', `${m.schemaName} ${m.externalId}; the row is sent once that is delivered`] as const,
    ),
  ];
  return [`dead letter ${deadLetter.id}`, ...facts.map(([name, text]) => `  ${name.padEnd(7)} ${printable(text)}`)];
}
