/** Adapts rows of texts to the form in which every row is mapped, a row of bytes. */
import type { ByteRow, SourceRow } from '../domain/source/source.js';
import { BYTES_A_UNIT, larger, writeText } from './text-column.js';

const FIRST_BYTES = 1024;
/** Beyond this length the bytes of a text are counted: room for three bytes per unit would be allocated and kept. */
const COUNTED = 1024;
/** Occurs nowhere in UTF-8. Appended to a text with a lone surrogate, it makes the bytes invalid, so nobody copies them. */
const NO_TEXT = 0xff;

/**
 * One row at a time, always in the same memory: {@link pointTo} replaces the row before. Only the bytes of `columns` (indexes
 * of the row) are written; all other columns can be read as texts only.
 */
export class TextRow implements ByteRow {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  starts = new Int32Array(0);
  ends = new Int32Array(0);
  readonly #columns: readonly number[];
  #row: SourceRow = [];

  constructor(columns: Iterable<number>) {
    this.#columns = [...new Set(columns)];
  }

  /** Makes `row` the current row. It is kept, not copied. */
  pointTo(row: SourceRow): this {
    this.#row = row;
    if (row.length !== this.starts.length) {
      this.starts = new Int32Array(row.length);
      this.ends = new Int32Array(row.length);
    }
    let at = 0;
    for (const column of this.#columns) {
      const text = row[column] ?? null;
      this.starts[column] = at;
      this.ends[column] = text === null ? -1 : (at = this.#write(text, at));
    }
    return this;
  }

  #write(text: string, from: number): number {
    const most = text.length > COUNTED ? Buffer.byteLength(text) : text.length * BYTES_A_UNIT;
    const room = from + most + 1;
    if (room > this.bytes.length)
      this.bytes = larger(this.bytes, Buffer.allocUnsafeSlow(Math.max(room, 2 * this.bytes.length)));
    const end = writeText(text, this.bytes, from);
    if (end - from === text.length || text.isWellFormed()) return end;
    this.bytes[end] = NO_TEXT;
    return end + 1;
  }

  text(column: number): string | null {
    return this.#row[column] ?? null;
  }

  texts(): SourceRow {
    return this.#row;
  }
}
