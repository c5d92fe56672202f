/** Opens a source whose rows can also be read in chunks, in this thread. */
import type { OnRetry } from '../domain/monitoring/retries.js';
import type { Source } from '../domain/source/source.js';
import type { SourceConfig } from '../domain/sync/sync.js';
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
export type OpenReader = (config: SourceConfig, onRetry?: OnRetry) => Reader;

/** Reads in the calling thread. Content hashes are computed when they are first needed. */
export const openReader: OpenReader = (config, onRetry) => {
  const source = openSource(config, onRetry);
  return { source, chunks: (...args) => readChunks(source, ...args) };
};
