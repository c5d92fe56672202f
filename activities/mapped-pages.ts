/** Rows through the compiled mapping, page by page, for work that only looks: preview, probes, reconcile. */
import type { MapResult } from '../src/domain/record.js';
import { Records } from '../src/domain/record-list.js';
import type { Position, ReadBounds, Source, SourceColumn, SourceRow } from '../src/domain/source.js';
import { keyIn } from '../src/reading/group.js';
import type { MappedReading } from '../src/reading/mapped-reading.js';
import { averageBytes, FIRST_PAGE_ROWS, pageRowsOf } from '../src/reading/page-rows.js';

/** What is needed to read rows and map them. */
export interface Reading extends Pick<MappedReading, 'plan' | 'mapper'> {
  readonly source: Pick<Source, 'readPage'>;
}

export interface MappedRow {
  readonly row: SourceRow;
  readonly result: MapResult;
}

export interface MappedPage {
  readonly columns: readonly SourceColumn[];
  readonly rows: readonly MappedRow[];
}

export const EVERYTHING: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** Pages of at most `limit` rows together, in reading order; ends with the range. */
export async function* mappedPages(reading: Reading, bounds: ReadBounds, limit: number): AsyncGenerator<MappedPage> {
  const { plan } = reading;
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keyOf = keyIn(plan);
  let after: Position | null = bounds.after;
  let pageRows = FIRST_PAGE_ROWS;
  for (let left = limit; left > 0;) {
    const page = await reading.source.readPage(plan, { ...bounds, after }, Math.min(left, pageRows));
    const last = page.rows.at(-1);
    if (last === undefined) return;
    const map = reading.mapper(page.columns);
    const records = new Records();
    yield {
      columns: page.columns,
      rows: Array.from(page.rows, (row) => ({ row, result: map(row, keyOf(row), records) })),
    };
    after = { cursor: cursor < 0 ? null : last[cursor]!, key: keyOf(last) };
    left -= page.rows.length;
    pageRows = pageRowsOf(averageBytes(page));
  }
}
