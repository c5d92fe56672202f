/** Prints the report of a run for people. */
import { quantity } from '../../domain/values/quantity.js';
import { formatSeconds } from '../../domain/values/duration.js';
import { ERROR_CATALOGUE } from '../../domain/errors.js';
import type { RunReport, Undelivered } from '../../domain/run/run.js';
import { removalLines } from './removal-lines.js';
import { printable, table } from './text-table.js';

/** Capitals, so that the outcome is found at a glance in a long log. */
const OUTCOMES = {
  complete: 'COMPLETE',
  complete_with_dead_letters: 'COMPLETE WITH DEAD LETTERS',
  incomplete: 'INCOMPLETE',
} as const;

/** What a mapping has not delivered of the rows that earlier runs read; no lines if there is nothing. */
function undeliveredLines(mapping: string, { waiting, deadLettered }: Undelivered, sync: string): string[] {
  const lines: string[] = [];
  if (waiting > 0)
    lines.push(`${mapping}: ${quantity(waiting, 'record from earlier runs waits', 'records from earlier runs wait')}.`);
  if (deadLettered > 0) {
    const dead = quantity(
      deadLettered,
      'record from earlier runs is a dead letter',
      'records from earlier runs are dead letters',
    );
    lines.push(`${mapping}: ${dead}: partner-sync dead-letters list ${sync}`);
  }
  return lines;
}

/** The report of a run, for people. In each row of the table the other columns add up to `read`. */
export function reportLines(report: RunReport): string[] {
  const seconds = (Date.parse(report.endedAt) - Date.parse(report.startedAt)) / 1000;
  const row = (name: string, b: RunReport['total']): (string | number)[] => [
    name,
    b.read,
    b.accepted,
    b.unchanged,
    b.waiting,
    b.deadLettered,
  ];
  // A backfill, such as a replay of one row, is only about the mappings that it reads.
  const mappings = report.kind === 'sync' ? report.mappings : report.mappings.filter(({ read }) => read > 0);
  const lines = [
    `run ${report.run} of ${report.sync} (${report.mode})  ${OUTCOMES[report.outcome]}  ${formatSeconds(seconds)}`,
    '',
    ...table(
      ['mapping', 'read', 'accepted', 'unchanged', 'waiting', 'dead-lettered'],
      [
        ...mappings.map((m) => row(m.mapping, m)),
        ...(report.kind !== 'sync' && mappings.length === 1 ? [] : [row('total', report.total)]),
      ],
    ),
  ];
  if (report.deadLetters.length > 0) {
    lines.push('', 'dead letters by cause:');
    lines.push(
      ...table(
        ['rows', 'mapping', 'field', 'rule', 'code'],
        report.deadLetters.map((d) => [d.count, d.mapping, d.pointer || '-', d.rule, d.code]),
      ),
    );
  }
  const removals = removalLines(report.sync, report.removals);
  if (removals.length > 0) lines.push('', ...removals);
  if (report.skipped !== undefined)
    lines.push(
      '',
      'skipped because of schema drift; nothing was read:',
      ...report.skipped.map(({ mapping, code, message }) => `  ${mapping}: ${code}: ${printable(message)}`),
      `  ${ERROR_CATALOGUE.source_changed.remedy}`,
    );
  if (report.notes !== undefined)
    lines.push('', ...report.notes.map(({ mapping, message }) => `note: ${mapping}: ${printable(message)}`));
  if (report.limit !== undefined)
    lines.push(
      '',
      `A sample: at most ${quantity(report.limit, 'row')} of each mapping, and their parents. No position moved; run without --limit for the rest.`,
    );
  const { waiting } = report.total;
  if (waiting > 0)
    lines.push(
      '',
      quantity(
        waiting,
        'record waits; a later run delivers it once what it waits for is there.',
        'records wait; a later run delivers them once what they wait for is there.',
      ),
    );
  for (const { mapping, undelivered } of report.mappings)
    lines.push(...undeliveredLines(mapping, undelivered, report.sync));
  return lines;
}
