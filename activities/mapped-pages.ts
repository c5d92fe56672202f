/** Rows through the compiled mapping, page by page, for work that only looks: preview, probes, reconcile. */
import type { MapResult } from '../src/domain/record.js';
import type { Page, Position, ReadBounds, ReadPlan, Source, SourceColumn, SourceRow } from '../src/domain/source.js';
import type { RowMapper } from './dependencies.js';

/** What is needed to read rows and map them. */
export interface Reading {
  readonly source: Pick<Source, 'readPage'>;
  readonly plan: ReadPlan;
  mapper(columns: readonly SourceColumn[]): RowMapper;
}

export interface MappedRow {
  readonly row: SourceRow;
  readonly result: MapResult;
}

export interface MappedPage {
  readonly columns: readonly SourceColumn[];
  readonly rows: readonly MappedRow[];
}

/** A small first page shows how large rows are. */
const FIRST_PAGE_ROWS = 100;
const PAGE_ROWS = 1000;
/** Characters of a page, about. */
const PAGE_BYTES = 4 * 1024 * 1024;

export const EVERYTHING: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** Pages of at most `limit` rows together, in reading order; ends with the range. */
export async function* mappedPages(reading: Reading, bounds: ReadBounds, limit: number): AsyncGenerator<MappedPage> {
  const { plan } = reading;
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keys = plan.key.map((column) => plan.columns.indexOf(column));
  const keyOf = (row: SourceRow): string[] => keys.map((i) => row[i]!);
  let after: Position | null = bounds.after;
  let pageRows = FIRST_PAGE_ROWS;
  for (let left = limit; left > 0;) {
    const page = await reading.source.readPage(plan, { ...bounds, after }, Math.min(left, pageRows));
    const last = page.rows.at(-1);
    if (last === undefined) return;
    const map = reading.mapper(page.columns);
    yield { columns: page.columns, rows: page.rows.map((row) => ({ row, result: map(row, keyOf(row)) })) };
    after = { cursor: cursor < 0 ? null : last[cursor]!, key: keyOf(last) };
    left -= page.rows.length;
    pageRows = Math.max(1, Math.min(PAGE_ROWS, Math.floor(PAGE_BYTES / averageBytes(page))));
  }
}

function averageBytes({ rows }: Page): number {
  const bytes = rows.reduce((sum, row) => sum + row.reduce((n, value) => n + (value?.length ?? 0), 1), 0);
  return bytes / rows.length;
}
