/** Where a command's words go: results to stdout, progress and notes to stderr, one JSON document with --json. */
import { ERROR_CATALOGUE } from '../domain/errors.js';
import type { Owed, RunReport } from '../domain/run.js';
import { formatSeconds } from '../domain/duration.js';
import { removalLines } from './removal-lines.js';
import { printable, table } from './table.js';

export interface Output {
  readonly json: boolean;
  /** The result, in the one form that was asked for. */
  result(document: object, lines: () => readonly string[]): void;
  /** For people, never on stdout. */
  note(line: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result(document, lines) {
      process.stdout.write(
        json
          ? `${JSON.stringify({ version: 1, ...document })}\n`
          : lines()
              .map((l) => `${l}\n`)
              .join(''),
      );
    },
    note: (line) => process.stderr.write(`${line}\n`),
  };
}

const OUTCOMES = {
  complete: 'COMPLETE',
  complete_with_dead_letters: 'COMPLETE WITH DEAD LETTERS',
  incomplete: 'INCOMPLETE',
} as const;

/** What a mapping has not delivered of the rows that other runs have read. */
function owedLines(mapping: string, { waiting, deadLettered }: Owed, sync: string): string[] {
  const records = (count: number, one: string, many: string): string =>
    count === 1
      ? `${mapping}: 1 record from earlier runs ${one}`
      : `${mapping}: ${count} records from earlier runs ${many}`;
  return [
    ...(waiting > 0 ? [records(waiting, 'waits.', 'wait.')] : []),
    ...(deadLettered > 0
      ? [`${records(deadLettered, 'is a dead letter', 'are dead letters')}: partner-sync dead-letters list ${sync}`]
      : []),
  ];
}

/** The report of a run, for people; the columns add up to `read`. */
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
  const lines = [
    `run ${report.run} of ${report.sync} (${report.mode})  ${OUTCOMES[report.outcome]}  ${formatSeconds(seconds)}`,
    '',
    ...table(
      ['mapping', 'read', 'accepted', 'unchanged', 'waiting', 'dead-lettered'],
      [...report.mappings.map((m) => row(m.mapping, m)), row('total', report.total)],
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
  const removals = removalLines(report.sync, report.removals ?? []);
  if (removals.length > 0) lines.push('', ...removals);
  if (report.stopped !== undefined)
    lines.push(
      '',
      'stopped, and nothing of them was read:',
      ...report.stopped.map(({ mapping, code, message }) => `  ${mapping}: ${code}: ${printable(message)}`),
      `  ${ERROR_CATALOGUE.source_changed.remedy}`,
    );
  if (report.notes !== undefined)
    lines.push('', ...report.notes.map(({ mapping, message }) => `note: ${mapping}: ${printable(message)}`));
  if (report.limit !== undefined)
    lines.push(
      '',
      `A sample: at most ${report.limit} rows of each mapping, and their parents. No position moved; the rest goes without --limit.`,
    );
  const { waiting } = report.total;
  if (waiting > 0)
    lines.push(
      '',
      waiting === 1
        ? '1 record waits and comes back by itself with a later run.'
        : `${waiting} records wait and come back by themselves with a later run.`,
    );
  for (const { mapping, owed } of report.mappings) lines.push(...owedLines(mapping, owed, report.sync));
  return lines;
}
