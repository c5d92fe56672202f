/** Reading in tests: plans, positions, all rows page by page. */
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { Page, RowPosition, ReadBounds, ReadPlan, Source } from '../../src/domain/source/source.js';
import { openSource } from '../../src/source/open-source.js';

export const open = (url: string, statementTimeout = 10): Source =>
  openSource({ connection: url, poolMax: 2, statementTimeout });

export const ALL: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

export const plan = (
  table: string,
  key: readonly string[],
  cursor: string | null = null,
  more: readonly string[] = [],
): ReadPlan => ({
  relation: { table },
  columns: [...new Set([...key, ...(cursor === null ? [] : [cursor]), ...more])],
  key,
  cursor,
});

/** The same of a query. */
export const query = (
  sql: string,
  columns: readonly string[],
  key: readonly string[],
  cursor: string | null = null,
): ReadPlan => ({ relation: { query: sql }, columns, key, cursor });

export function placeOf(read: ReadPlan, page: Page): RowPosition {
  const row = page.rows.at(-1)!;
  const value = (column: string): string => row[read.columns.indexOf(column)]!;
  return { cursor: read.cursor === null ? null : value(read.cursor), key: read.key.map(value) };
}

/** Every row, page by page; `meanwhile` is called after each page. */
export async function readAll(
  source: Source,
  read: ReadPlan,
  limit: number,
  bounds = ALL,
  meanwhile?: (page: number) => Promise<unknown>,
): Promise<string[]> {
  const rows: string[] = [];
  let at = bounds;
  for (let no = 0; ; no++) {
    const page = await source.readPage(read, at, limit);
    if (page.rows.length === 0) return rows;
    rows.push(...[...page.rows].map((row) => row.map((value) => value ?? 'NULL').join('|')));
    at = { ...at, after: placeOf(read, page) };
    await meanwhile?.(no);
  }
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PartnerSyncError) return error.code;
    throw error;
  }
  return 'no error';
}
