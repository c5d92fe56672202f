/** Answers of the platform as tables for people. */
import type { Pages } from '../../platform/contract/pagination.js';
import { printable, table, type Cell } from '../table.js';

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** One table of the plain fields, nested ones by dots, and a table for each list of objects below it. */
export function answerLines(data: unknown): string[] {
  if (!isObject(data)) return [data === null ? 'none' : wordOf(data)];
  const fields: [string, string][] = [];
  const lists: [string, readonly Row[]][] = [];
  collect('', data, fields, lists);
  return [...fieldLines(fields), ...lists.flatMap(([name, rows]) => ['', `${printable(name)}:`, ...rowLines(rows)])];
}

/** The entries of a list, one a line, and how to get those after them. */
export function listLines(data: Row, { entries }: Pages): string[] {
  const { [entries]: rows, pagination, ...others } = data;
  const { cursor, hasNextPage, total } = pagination as { cursor?: string | null; hasNextPage: boolean; total?: number };
  const more = hasNextPage && cursor != null ? `, next: --cursor ${cursor}` : '';
  const of = total === undefined ? '' : ` of ${total}`;
  return [
    ...rowLines(rows as Row[]),
    ...Object.entries(others).map(([name, value]) => `${name}: ${wordOf(value)}`),
    `${(rows as Row[]).length}${of} shown${more}`,
  ];
}

function collect(before: string, value: Row, fields: [string, string][], lists: [string, readonly Row[]][]): void {
  for (const [key, member] of Object.entries(value)) {
    const name = before === '' ? key : `${before}.${key}`;
    if (isObject(member)) collect(name, member, fields, lists);
    else if (Array.isArray(member) && member.some(isObject)) lists.push([name, member.filter(isObject)]);
    else fields.push([name, Array.isArray(member) ? member.map(wordOf).join(', ') || '-' : wordOf(member)]);
  }
}

function fieldLines(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => printable(name).length));
  return fields.map(([name, text]) => `${printable(name).padEnd(width)}   ${printable(text)}`.trimEnd());
}

function rowLines(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['none'];
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  );
}

const cellOf = (value: unknown): Cell => (typeof value === 'number' ? value : wordOf(value));

function wordOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
