/** Reads and maps rows page by page for work that delivers nothing: previews, probes and reconciliation. */
import type { MapResult } from '../domain/records/record.js';
import { Records } from '../records/records.js';
import type { RowPosition, ReadBounds, Source, SourceColumn, SourceRow } from '../domain/source/source.js';
import type { PreparedMapping } from './prepared-mapping.js';
import { averageRowLength, FIRST_PAGE_ROWS, rowsPerPage } from './page-size.js';
import { positionIn } from './reading-order.js';

/** A mapping and the source that its rows are read from. */
export interface MappingWithSource extends Pick<PreparedMapping, 'plan' | 'mapper'> {
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

/** Yields pages in reading order until there are no more rows within `bounds`, or `limit` rows have been read. */
export async function* readMappedPages(
  mapping: MappingWithSource,
  bounds: ReadBounds,
  limit: number,
): AsyncGenerator<MappedPage> {
  const { plan } = mapping;
  const positionOf = positionIn(plan);
  let after: RowPosition | null = bounds.after;
  let pageRows = FIRST_PAGE_ROWS;
  let left = limit;
  while (left > 0) {
    const page = await mapping.source.readPage(plan, { ...bounds, after }, Math.min(left, pageRows));
    const last = page.rows.at(-1);
    if (last === undefined) return;
    const map = mapping.mapper(page.columns);
    const records = new Records();
    yield {
      columns: page.columns,
      rows: Array.from(page.rows, (row) => ({ row, result: map(row, records) })),
    };
    after = positionOf(last);
    left -= page.rows.length;
    pageRows = rowsPerPage(averageRowLength(page));
  }
}
