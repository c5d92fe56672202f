/** Reads and maps rows page by page for work that delivers nothing: previews, probes and reconciliation. */
import type { MapResult } from '../domain/record.js';
import { Records } from '../records/records.js';
import type { KeyRange, Position, ReadBounds, ReadPlan, Source, SourceColumn, SourceRow } from '../domain/source.js';
import { keyIn } from './chunk.js';
import type { MappedReading } from './mapped-reading.js';
import { averageBytes, FIRST_PAGE_ROWS, pageRowsOf } from './page-rows.js';

/** A mapping and the source that its rows are read from. */
export interface RowSource extends Pick<MappedReading, 'plan' | 'mapper'> {
  readonly source: Pick<Source, 'readPage'>;
}

/** A row, with its values in the order of the page's columns, and what the mapping makes of it. */
export interface MappedRow {
  readonly row: SourceRow;
  readonly result: MapResult;
}

/** A page with the result of each row. */
export interface MappedPage {
  readonly columns: readonly SourceColumn[];
  readonly rows: readonly MappedRow[];
}

/** The bounds of a reading of all rows. */
export const EVERYTHING: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** The bounds of a key range. */
export const keyRangeBounds = ({ after, through }: KeyRange): ReadBounds => ({
  ...EVERYTHING,
  after: after === null ? null : { cursor: null, key: after },
  throughKey: through,
});

/** The same plan, read in the order of the key alone. */
export const byKey = (plan: ReadPlan): ReadPlan => ({ ...plan, cursor: null });

/** Yields pages in reading order until there are no more rows within `bounds`, or `limit` rows have been read. */
export async function* mappedPages(reading: RowSource, bounds: ReadBounds, limit: number): AsyncGenerator<MappedPage> {
  const { plan } = reading;
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keyOf = keyIn(plan);
  let after: Position | null = bounds.after;
  let pageRows = FIRST_PAGE_ROWS;
  let left = limit;
  while (left > 0) {
    const page = await reading.source.readPage(plan, { ...bounds, after }, Math.min(left, pageRows));
    const last = page.rows.at(-1);
    if (last === undefined) return;
    const map = reading.mapper(page.columns);
    const records = new Records();
    yield {
      columns: page.columns,
      rows: Array.from(page.rows, (row) => ({ row, result: map(row, records) })),
    };
    after = { cursor: cursor < 0 ? null : last[cursor]!, key: keyOf(last) };
    left -= page.rows.length;
    pageRows = pageRowsOf(averageBytes(page));
  }
}
