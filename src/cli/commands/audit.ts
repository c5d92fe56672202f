/**
 * `partner-sync audit`: who has done what to a sync, from where, and when.
 *
 * Reads the ledger only. Exit codes: 0 done (also if there are no entries), 1 failed, 2 wrong usage or configuration.
 */
import type { Command } from 'commander';
import type { AuditEntry } from '../../domain/run/audit.js';
import type { JsonValue } from '../../domain/values/json.js';
import { count, since } from '../arguments.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { table } from '../output/text-table.js';

interface AuditFlags {
  readonly json?: boolean;
  readonly since?: string;
  readonly limit?: number;
}

const SHOWN = 50;

export function addAudit(program: Command): void {
  program
    .command('audit')
    .description(
      'Shows what people and commands have done, newest first: runs started, paused and resumed, removal plans and holds approved, dead letters dropped and replayed, schedules changed, schema definitions pushed, records forgotten. Runs that a schedule starts are shown by status.',
    )
    .argument('[sync]', 'folder in the mappings folder; all if none is named')
    .option('--since <time>', 'only at this time or later; 2h is two hours ago', since)
    .option('--limit <n>', `how many entries to show (default: ${SHOWN})`, count)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync audit online-retail\n  partner-sync audit --since 7d --json\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string | undefined], AuditFlags>(
        async ({ parts, output }, sync, { since: from, limit = SHOWN }) => {
          const entries = await (
            await parts.ledger()
          ).audit.latest({ limit, ...(sync !== undefined && { sync }), ...(from !== undefined && { since: from }) });
          if (entries.length === 0 && sync !== undefined) await assertKnown(parts, sync);
          output.result({ ...(sync !== undefined && { sync }), entries }, () => linesOf(entries));
          return EXIT.done;
        },
      ),
    );
}

const linesOf = (entries: readonly AuditEntry[]): string[] =>
  entries.length === 0
    ? ['no entries']
    : table(
        ['at', 'sync', 'action', 'who', 'from', ''],
        entries.map(({ at, sync, action, actor, subject }) => [
          `${at.slice(0, 19)}Z`,
          sync,
          action.replaceAll('_', ' '),
          actor.who ?? '-',
          actor.origin,
          Object.entries(subject)
            .map(([name, value]) => `${name} ${textOf(value)}`)
            .join('; '),
        ]),
      );

/** A value for people: a list by its parts, an object as JSON. */
const textOf = (value: JsonValue): string =>
  Array.isArray(value) ? value.map(textOf).join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
