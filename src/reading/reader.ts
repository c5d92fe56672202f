/** Opens a source together with the reading of its rows in chunks, in this thread. */
import type { Source } from '../domain/source.js';
import type { SourceConfig } from '../domain/sync.js';
import { openSource } from '../source/open-source.js';
import type { PositionedChunk } from './chunk.js';
import type { NewRecords } from './chunk-builder.js';
import type { PreparedMapping } from './prepared-mapping.js';
import { readChunks, type ReadPartition } from './read-chunks.js';

/** An open source; closing `source` closes the reader. */
export interface Reader {
  readonly source: Source;
  /** {@link readChunks} of this source. */
  readonly chunks: (
    mapping: PreparedMapping,
    partition: ReadPartition,
    nextReadSeq: () => Promise<string>,
    newRecords?: NewRecords,
  ) => AsyncGenerator<PositionedChunk>;
}

/** Opens a reader without connecting yet; implemented here and by the reading thread. */
export type OpenReader = (config: SourceConfig) => Reader;

/** Reads in the calling thread. Content hashes are computed when they are first needed. */
export const openReader: OpenReader = (config) => {
  const source = openSource(config);
  return { source, chunks: (...asked) => readChunks(source, ...asked) };
};
