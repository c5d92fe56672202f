/** Reads a partition page by page, prefetching one page, and yields its rows in chunks of bounded size. */
import type { Page, RowPosition, ReadBounds, Source } from '../domain/source/source.js';
import { Records } from '../records/records.js';
import type { PositionedChunk } from './chunk.js';
import { ChunkBuilder, type NewRecords } from './chunk-builder.js';
import type { PreparedMapping } from './prepared-mapping.js';
import { averageRowLength, FIRST_PAGE_ROWS, rowsPerPage } from './page-size.js';
import { inKeyOrder, positionIn } from './reading-order.js';

/** Most rows of the first chunk, which is smaller so that sending begins soon. */
const FIRST_CHUNK_ROWS = 4_000;

/** The part of a mapping's rows that is read in one go. */
export interface ReadPartition {
  /** Whether rows are read in the order of the cursor and then the key, or of the key alone. */
  readonly byCursor: boolean;
  readonly bounds: ReadBounds;
}

/**
 * Yields the chunks of a partition in reading order. `nextReadSeq` draws a read sequence number greater than all drawn
 * before. `newRecords` gives the memory for each chunk's records; by default every chunk has its own. Throws what the
 * source throws; a caller that stops early waits for the page that is being prefetched.
 */
export async function* readChunks(
  source: Pick<Source, 'readPage'>,
  mapping: PreparedMapping,
  partition: ReadPartition,
  nextReadSeq: () => Promise<string>,
  newRecords: NewRecords = () => new Records(),
): AsyncGenerator<PositionedChunk> {
  const plan = partition.byCursor ? mapping.plan : inKeyOrder(mapping.plan);
  const positionOf = positionIn(plan);
  let { bounds } = partition;
  let position: RowPosition | null = null;
  let readSeqStart = await nextReadSeq();
  let limit = FIRST_PAGE_ROWS;
  const readAhead = (): Promise<Page> => {
    const page = source.readPage(plan, bounds, limit);
    // The page may fail while the caller is busy with the chunk before. That failure is thrown when the page is awaited.
    page.catch(() => undefined);
    return page;
  };
  let next = readAhead();
  let chunk = new ChunkBuilder(readSeqStart, newRecords(), FIRST_CHUNK_ROWS);
  try {
    while (true) {
      const page = await next;
      const last = page.rows.at(-1);
      // Only an empty page ends the partition: a short one may come from a connection that failed without an error.
      if (last === undefined) break;
      position = positionOf(last);
      bounds = { ...bounds, after: position };
      const rowLength = averageRowLength(page);
      limit = rowsPerPage(rowLength);
      const isLast = chunk.isFullWith(page, rowLength);
      // This number separates two chunks: drawn after all pages of one have arrived, before any of the next is requested.
      if (isLast) readSeqStart = await nextReadSeq();
      next = readAhead();
      chunk.add(page, mapping, rowLength);
      if (!isLast) continue;
      yield { ...chunk.finish(readSeqStart), position };
      chunk = new ChunkBuilder(readSeqStart, newRecords());
    }
    if (position !== null && chunk.rows > 0) yield { ...chunk.finish(await nextReadSeq()), position };
  } finally {
    // When the caller stops early, a prefetched page may still be using the source's connection.
    await next.catch(() => undefined);
  }
}
