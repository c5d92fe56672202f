/**
 * Prints responses of the platform as tables, whatever fields they have: the contract may grow without changes here.
 */
import type { Pages } from '../../platform/contract/pagination.js';
import { printable, table, type Cell } from '../output/text-table.js';

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A response as lines: its plain fields, with the names of nested ones joined by dots, then a table for each list of
 * objects. `none` for null.
 */
export function responseLines(data: unknown): string[] {
  if (!isObject(data)) return [data === null ? 'none' : wordOf(data)];
  const fields: [string, string][] = [];
  const lists: [string, readonly Row[]][] = [];
  collect('', data, fields, lists);
  return [...fieldLines(fields), ...lists.flatMap(([name, rows]) => ['', `${printable(name)}:`, ...rowLines(rows)])];
}

/** The entries of a list, one a line, its other fields, and how to fetch the next page. */
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

/** A table with a column for every field that some row has, in the order in which they first occur. */
function rowLines(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['none'];
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  );
}

const cellOf = (value: unknown): Cell => (typeof value === 'number' ? value : wordOf(value));

/** Lists and objects inside a cell as JSON; `-` for null and absent. */
function wordOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
