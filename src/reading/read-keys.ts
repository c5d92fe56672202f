/** Reads rows by value as one chunk that does not move the mapping's position. */
import type { Source, SourceKey } from '../domain/source.js';
import { newChunk, type Chunk } from './chunk.js';
import { averageBytes } from './page-rows.js';
import type { MappedReading } from './mapped-reading.js';
import { readWhatFits } from './read-by-values.js';

/** Reads and maps the rows whose `columns` have one of `values`; values that fit no row are skipped. */
export async function readKeys(
  clock: { nextReadSeq(): Promise<string> },
  sync: { readonly source: Pick<Source, 'readByValues'> },
  mapping: MappedReading,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Chunk> {
  const readSeqStart = await clock.nextReadSeq();
  const page = await readWhatFits(sync.source, mapping.plan, columns, values);
  const readSeqEnd = await clock.nextReadSeq();
  const chunk = newChunk(readSeqStart);
  chunk.add(page, mapping, averageBytes(page));
  return chunk.finish(readSeqEnd, null);
}
