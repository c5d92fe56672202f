/** The calls between the reading thread and its owner. Readers and readings in progress are named by the owner's numbers. */
import type { PostedFailedRows } from '../../records/failed-row-list.js';
import type { PostedRecords } from '../../records/records.js';
import type { Source } from '../../domain/source.js';
import type { MappingSpec, SourceConfig, TenantRule } from '../../domain/sync.js';
import type { PositionedChunk } from '../chunk.js';
import type { ReadPartition } from '../read-chunks.js';

/** The methods of a source that are forwarded by name. */
export type SourceMethod = Exclude<keyof Source, 'close'>;

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

/** What the thread offers. A type alias, since an interface has no index signature and so is not assignable to Answers. */
export type ThreadAnswers = {
  open: (reader: number, config: SourceConfig) => void;
  source: (reader: number, method: SourceMethod, args: readonly unknown[]) => Promise<unknown>;
  close: (reader: number) => Promise<void>;
  /** Starts a reading; its chunks are requested with `next`. */
  begin: (reading: number, reader: number, mapping: PostedMapping, partition: ReadPartition) => void;
  /** The next chunk; null after the last one. */
  next: (reading: number) => Promise<PostedChunk | null>;
  /** Ends a reading, finished or not, and releases what it uses. */
  end: (reading: number) => Promise<void>;
};

/** What the thread's owner offers. */
export type OwnerAnswers = {
  /** Draws a read sequence number for a reading. */
  nextReadSeq: (reading: number) => Promise<string>;
};
