/** Chunks of mapped rows: the unit that the ledger claims in one transaction and checkpoints in another. */
import { FailedRowList } from '../records/failed-row-list.js';
import type { MapResult } from '../domain/records/record.js';
import { RecordList } from '../records/record-list.js';
import type { RowPosition } from '../domain/source/source.js';

/** Mapped rows that were read together. Each row is either a record or a failed row, which becomes a dead letter. */
export interface Chunk {
  readonly records: RecordList;
  readonly failedRows: FailedRowList;
  /** Read sequence numbers drawn before the first page was requested and after the last one had arrived. */
  readonly readSeqStart: string;
  readonly readSeqEnd: string;
}

/** A chunk of a partition's rows, read in their order. */
export interface PositionedChunk extends Chunk {
  /** The position of the last row. */
  readonly position: RowPosition;
}

/** How many rows the chunk was made from. */
export const rowsIn = ({ records, failedRows }: Chunk): number => records.length + failedRows.length;

/** The results of all rows, records first. */
export const resultsOf = ({ records, failedRows }: Chunk): MapResult[] => [...records, ...failedRows];

/** The same chunk with these results in place of its own; they are copied. */
export const withResults = <C extends Pick<Chunk, 'readSeqStart' | 'readSeqEnd'>>(
  chunk: C,
  results: readonly MapResult[],
): C & Chunk => ({
  ...chunk,
  records: RecordList.of(results.filter((r) => r.kind === 'record')),
  failedRows: FailedRowList.of(results.filter((r) => r.kind === 'failed')),
});
