/** Chunks of mapped rows: the unit that the ledger claims in one transaction and settles in another. */
import { DeadLetterList } from '../records/dead-letter-list.js';
import type { MapResult } from '../domain/record.js';
import { RecordList, Records } from '../records/record-list.js';
import type { Page, Position, ReadPlan, SourceKey, SourceRow } from '../domain/source.js';
import type { MappedReading } from './mapped-reading.js';

/**
 * Most rows of a chunk. The more rows a statement of the ledger covers, the less each costs. A batch has records of one
 * tenant, so if rows of many tenants alternate, small chunks would also make small batches (ADR 0017).
 */
const CHUNK_ROWS = 12_000;
/** Approximate size of a chunk's rows in characters at which it ends. */
const CHUNK_BYTES = 8 * 1024 * 1024;
/** Number of dead letters at which a chunk ends: writing one to the ledger costs more than writing a record. */
const CHUNK_DEAD_LETTERS = 2_000;

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
export const withResults = <G extends Pick<Chunk, 'readSeqStart' | 'readSeqEnd' | 'position'>>(
  chunk: G,
  results: readonly MapResult[],
): G & Chunk => ({
  ...chunk,
  records: RecordList.of(results.filter((r) => r.kind === 'record')),
  deadLetters: DeadLetterList.of(results.filter((r) => r.kind === 'failed')),
});

/** A function from a row of the plan's columns to its key. Key columns are never NULL. */
export function keyIn({ columns, key }: ReadPlan): (row: SourceRow) => SourceKey {
  const [first, ...others] = key.map((column) => columns.indexOf(column));
  if (others.length === 0) return (row) => [row[first!]!];
  return (row) => [row[first!]!, ...others.map((i) => row[i]!)];
}

/** Gives empty columns for the records of the next chunk. */
export type NewRecords = () => Records;

/** Uses the same memory for every chunk: a chunk must not be read any more once the next one is begun. */
export function oneAfterTheOther(): NewRecords {
  const records = new Records();
  return () => {
    records.clear();
    return records;
  };
}

/**
 * Begins a chunk, to which pages are added until it is full. `readSeqStart` is the read sequence number drawn before its first
 * page was requested; it is full at `mostRows` rows. The last page may take it beyond its limits.
 */
export function newChunk(readSeqStart: string, records = new Records(), mostRows = CHUNK_ROWS) {
  const deadLetters = new DeadLetterList();
  let bytes = 0;
  return {
    get rows() {
      return records.length + deadLetters.length;
    },
    /** Whether the chunk is full once `page` has been added. `rowBytes`: average characters of the page's rows. */
    isFullWith({ rows }: Page, rowBytes: number): boolean {
      if (deadLetters.length >= CHUNK_DEAD_LETTERS) return true;
      return this.rows + rows.length >= mostRows || bytes + rows.length * rowBytes >= CHUNK_BYTES;
    },
    /** Maps the rows of the page. Throws `config_invalid` or `source_relation_missing` if its columns do not fit. */
    add(page: Page, { compiled }: Pick<MappedReading, 'compiled'>, rowBytes: number): void {
      if (page.rows.length === 0) return;
      bytes += page.rows.length * rowBytes;
      const { append, inBytes } = compiled(page.columns);
      const { rows } = page;
      for (let i = 0; i < rows.length; i++) {
        const unmappable = append(rows.inBytes?.(i) ?? inBytes(rows.at(i)!), records);
        if (unmappable !== null) deadLetters.add(unmappable);
      }
    },
    /** `readSeqEnd` is the read sequence number drawn once the last page had arrived. */
    finish: (readSeqEnd: string, position: Position | null): Chunk => ({
      records: new RecordList(records),
      deadLetters,
      readSeqStart,
      readSeqEnd,
      position,
    }),
  };
}
