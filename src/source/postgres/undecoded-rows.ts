/**
 * Rows kept as the messages they came in (https://www.postgresql.org/docs/current/protocol-message-formats.html) and
 * decoded on access: until then a row is bytes in a buffer, which cost the garbage collector nothing (ADR 0024).
 */
import type { ByteRow, Rows, SourceRow } from '../../domain/source/source.js';

/** Bytes of a message's code and length; the length counts itself. */
export const MESSAGE_HEADER = 5;
/** Up to this many bytes, a message is decoded as one string: each of its substrings keeps the whole alive. */
const NARROW = 1024;
const NOT_ASCII = /[\x80-\xff]/;

/** Rows in the order they were added. {@link inBytes} reuses one object: its row is valid until the next call. */
export class UndecodedRows implements Rows {
  readonly #buffers: Buffer[] = [];
  readonly #from: number[] = [];
  readonly #end: number[] = [];
  readonly #row = new MessageRow();

  /** Adds the DataRow message from `from` to `end`. */
  add(buffer: Buffer, from: number, end: number): void {
    this.#buffers.push(buffer);
    this.#from.push(from);
    this.#end.push(end);
  }

  get length(): number {
    return this.#buffers.length;
  }

  at(index: number): SourceRow | undefined {
    const i = index < 0 ? this.length + index : index;
    return i in this.#buffers ? this.inBytes(i).texts() : undefined;
  }

  *[Symbol.iterator](): Generator<SourceRow> {
    for (let i = 0; i < this.length; i++) yield this.inBytes(i).texts();
  }

  readonly inBytes = (index: number): ByteRow =>
    this.#row.pointTo(this.#buffers[index]!, this.#from[index]!, this.#end[index]!);
}

/** A view of one row at a time. */
class MessageRow implements ByteRow {
  bytes: Buffer = Buffer.alloc(0);
  starts = new Int32Array(0);
  ends = new Int32Array(0);
  #from = 0;
  #end = 0;
  #texts: SourceRow | undefined;

  pointTo(buffer: Buffer, from: number, end: number): this {
    this.bytes = buffer;
    this.#from = from;
    this.#end = end;
    this.#texts = undefined;
    const columns = (buffer[from + MESSAGE_HEADER]! << 8) | buffer[from + MESSAGE_HEADER + 1]!;
    if (columns !== this.starts.length) {
      this.starts = new Int32Array(columns);
      this.ends = new Int32Array(columns);
    }
    let at = from + MESSAGE_HEADER + 2;
    for (let i = 0; i < columns; i++) {
      const length = int32(buffer, at);
      this.starts[i] = at += 4;
      this.ends[i] = length < 0 ? -1 : (at += length);
    }
    return this;
  }

  text(column: number): string | null {
    const end = this.ends[column]!;
    return end < 0 ? null : (this.#texts?.[column] ?? this.bytes.toString('utf8', this.starts[column], end));
  }

  texts(): SourceRow {
    return (this.#texts ??= this.#decoded());
  }

  #decoded(): SourceRow {
    const { bytes, starts, ends } = this;
    const from = this.#from;
    // One call for all values: in latin1 a byte is a character, so offsets stay valid.
    const text = this.#end - from <= NARROW ? bytes.toString('latin1', from, this.#end) : undefined;
    const row = new Array<string | null>(starts.length);
    for (let i = 0; i < row.length; i++) {
      const start = starts[i]!;
      const end = ends[i]!;
      const value = end < 0 ? null : text?.substring(start - from, end - from);
      row[i] =
        value === undefined || (value !== null && NOT_ASCII.test(value)) ? bytes.toString('utf8', start, end) : value;
    }
    return row;
  }
}

/** The signed big-endian integer at `at`. */
export const int32 = (buffer: Buffer, at: number): number =>
  (buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!;
