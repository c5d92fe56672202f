/** Maps pages of rows into a chunk until it is full. */
import { FailedRowList } from '../records/failed-row-list.js';
import { RecordList, Records } from '../records/record-list.js';
import type { Page } from '../domain/source/source.js';
import type { Chunk } from './chunk.js';
import type { PreparedMapping } from './prepared-mapping.js';

/**
 * Most rows of a chunk. The more rows a statement of the ledger covers, the less each costs. A batch has records of one
 * tenant, so if rows of many tenants alternate, small chunks would also make small batches (ADR 0017).
 */
const CHUNK_ROWS = 12_000;
/** Approximate number of characters of a chunk's rows at which it ends. */
const CHUNK_CHARACTERS = 8 * 1024 * 1024;
/** Number of failed rows at which a chunk ends: writing a dead letter to the ledger costs more than writing a record. */
const CHUNK_FAILED_ROWS = 2_000;

/** Gives empty columns for the records of the next chunk. */
export type NewRecords = () => Records;

/** Uses the same memory for every chunk: a chunk must not be read any more once the next one is begun. */
export function reusedRecords(): NewRecords {
  const records = new Records();
  return () => {
    records.clear();
    return records;
  };
}

/** A chunk to which pages are added until it is full. The last page may take it beyond its limits. */
export class ChunkBuilder {
  readonly #readSeqStart: string;
  readonly #records: Records;
  readonly #mostRows: number;
  readonly #failedRows = new FailedRowList();
  #characters = 0;

  /**
   * @param readSeqStart the read sequence number drawn before the first page was requested
   * @param records empty; the chunk's records are appended to it
   * @param mostRows the number of rows at which the chunk is full
   */
  constructor(readSeqStart: string, records = new Records(), mostRows = CHUNK_ROWS) {
    this.#readSeqStart = readSeqStart;
    this.#records = records;
    this.#mostRows = mostRows;
  }

  /** How many rows have been added. */
  get rows(): number {
    return this.#records.length + this.#failedRows.length;
  }

  /** Whether the chunk is full once `page` has been added. `rowLength`: average characters of the page's rows. */
  isFullWith({ rows }: Page, rowLength: number): boolean {
    return (
      this.#failedRows.length >= CHUNK_FAILED_ROWS ||
      this.rows + rows.length >= this.#mostRows ||
      this.#characters + rows.length * rowLength >= CHUNK_CHARACTERS
    );
  }

  /** Maps the rows of the page. Throws `config_invalid` or `source_relation_missing` if its columns do not fit. */
  add({ rows, columns }: Page, { compiled }: Pick<PreparedMapping, 'compiled'>, rowLength: number): void {
    if (rows.length === 0) return;
    this.#characters += rows.length * rowLength;
    const records = this.#records;
    const { append, inBytes } = compiled(columns);
    const count = rows.length;
    for (let i = 0; i < count; i++) {
      const unmappable = append(rows.inBytes?.(i) ?? inBytes(rows.at(i)!), records);
      if (unmappable !== null) this.#failedRows.add(unmappable);
    }
  }

  /** `readSeqEnd` is the read sequence number drawn once the last page had arrived. */
  finish(readSeqEnd: string): Chunk {
    return {
      records: new RecordList(this.#records),
      failedRows: this.#failedRows,
      readSeqStart: this.#readSeqStart,
      readSeqEnd,
    };
  }
}
