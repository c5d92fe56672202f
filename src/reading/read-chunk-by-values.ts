/** Reads rows by value as one chunk. */
import type { Source, SourceKey } from '../domain/source/source.js';
import type { Chunk } from './chunk.js';
import { ChunkBuilder } from './chunk-builder.js';
import { averageRowLength } from './page-size.js';
import type { PreparedMapping } from './prepared-mapping.js';
import { readRowsByValues } from './read-rows-by-values.js';

/** Reads and maps the rows whose `columns` have one of `values`; values that fit no row are skipped. */
export async function readChunkByValues(
  clock: { nextReadSeq(): Promise<string> },
  sync: { readonly source: Pick<Source, 'readByValues'> },
  mapping: PreparedMapping,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Chunk> {
  const readSeqStart = await clock.nextReadSeq();
  const page = await readRowsByValues(sync.source, mapping.plan, columns, values);
  const readSeqEnd = await clock.nextReadSeq();
  const chunk = new ChunkBuilder(readSeqStart);
  chunk.add(page, mapping, averageRowLength(page));
  return chunk.finish(readSeqEnd);
}
