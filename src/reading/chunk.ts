/** Chunks of mapped rows: the unit that the ledger claims in one transaction and settles in another. */
import { DeadLetterList } from '../records/dead-letter-list.js';
import type { MapResult } from '../domain/record.js';
import { RecordList } from '../records/record-list.js';
import type { Position } from '../domain/source.js';

/** Mapped rows that were read together. Each row is either a record or a dead letter. */
export interface Chunk {
  readonly records: RecordList;
  readonly deadLetters: DeadLetterList;
  /** Read sequence numbers drawn before the first page was requested and after the last one had arrived. */
  readonly readSeqStart: string;
  readonly readSeqEnd: string;
  /** Position of the last row in the reading order; null for rows that were read by value. */
  readonly position: Position | null;
}

/** How many rows the chunk was made from. */
export const rowsIn = ({ records, deadLetters }: Chunk): number => records.length + deadLetters.length;

/** The results of all rows, records first. */
export const resultsOf = ({ records, deadLetters }: Chunk): MapResult[] => [...records, ...deadLetters];

/** The same chunk with these results in place of its own; they are copied. */
export const withResults = <C extends Pick<Chunk, 'readSeqStart' | 'readSeqEnd' | 'position'>>(
  chunk: C,
  results: readonly MapResult[],
): C & Chunk => ({
  ...chunk,
  records: RecordList.of(results.filter((r) => r.kind === 'record')),
  deadLetters: DeadLetterList.of(results.filter((r) => r.kind === 'failed')),
});
