/** The methods that the reading thread and the main thread call of each other. The main thread numbers readers and streams. */
import type { PostedFailedRows } from '../../records/failed-row-list.js';
import type { PostedRecords } from '../../records/records.js';
import type { OnRetry } from '../../domain/monitoring/retries.js';
import type { ChangeFeed, ChangeGroup, FeedConfig, FeedPosition } from '../../domain/source/change-feed.js';
import type { Source } from '../../domain/source/source.js';
import type { MappingSpec, SourceConfig, TenantRule } from '../../domain/sync/sync.js';
import type { PositionedChunk } from '../chunk.js';
import type { ReadPartition } from '../read-chunks.js';

/** The methods of a source that are forwarded by name. */
export type SourceMethod = Exclude<keyof Source, 'close' | 'changes'>;

/** The methods of a change feed that are forwarded by name. */
export type FeedMethod = Exclude<keyof ChangeFeed, 'read'>;

/** A mapping. The thread compiles it once per `id`, so an id must never be reused for another spec or tenant rule. */
export interface PostedMapping {
  readonly id: number;
  readonly spec: MappingSpec;
  readonly tenant: TenantRule;
}

/** A {@link PositionedChunk} with its columns in the form that can be posted. */
export interface PostedChunk extends Omit<PositionedChunk, 'records' | 'failedRows'> {
  readonly records: PostedRecords;
  readonly failedRows: PostedFailedRows;
}

/** The methods of the reading thread. A type alias: an interface has no index signature and is not assignable to Methods. */
export type ReadingThreadMethods = {
  open: (reader: number, config: SourceConfig) => void;
  source: (reader: number, method: SourceMethod, args: readonly unknown[]) => Promise<unknown>;
  close: (reader: number) => Promise<void>;
  /** Opens a stream of a partition's chunks; the mapping's custom transforms are loaded first. */
  openStream: (stream: number, reader: number, mapping: PostedMapping, partition: ReadPartition) => Promise<void>;
  /** The next chunk of the stream; null after the last one. */
  nextChunk: (stream: number) => Promise<PostedChunk | null>;
  /** Closes a stream, at its end or not, and releases what it uses. */
  closeStream: (stream: number) => Promise<void>;
  feed: (reader: number, config: FeedConfig, method: FeedMethod, args: readonly unknown[]) => Promise<unknown>;
  /** Opens a stream of a feed's changes. */
  openChanges: (stream: number, reader: number, config: FeedConfig, position: FeedPosition) => void;
  /** The next changes of the stream; null after the last ones. */
  nextChanges: (stream: number) => Promise<ChangeGroup | null>;
  /** Closes a stream of changes, even while the next ones are waited for; does nothing if it is closed. */
  closeChanges: (stream: number) => Promise<void>;
};

/** The methods of the main thread. */
export type MainThreadMethods = {
  /** Draws a read sequence number for a stream. */
  nextReadSeq: (stream: number) => Promise<string>;
  /** Tells the owner of a reader of a retry in place. */
  retried: (reader: number, ...failure: Parameters<OnRetry>) => void;
};
