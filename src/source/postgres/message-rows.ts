/**
 * Rows as the messages that they came in (https://www.postgresql.org/docs/current/protocol-message-formats.html). Each is
 * decoded when somebody looks at it: until then it is bytes, of which the collector knows nothing (ADR 0024).
 */
import type { Rows, SourceRow } from '../../domain/source.js';

/** Bytes of a message's code and length; the length counts itself. */
export const MESSAGE_HEADER = 5;
/** A row's message is decoded at once up to so many bytes: each of its longer values keeps all of that text alive. */
const NARROW = 1024;
const NOT_ASCII = /[\x80-\xff]/;

export class MessageRows implements Rows {
  readonly #buffers: Buffer[] = [];
  readonly #from: number[] = [];
  readonly #end: number[] = [];
  /** Whether no byte of the buffer needs to be looked at again. */
  readonly #ascii: boolean[] = [];

  add(buffer: Buffer, from: number, end: number, ascii: boolean): void {
    this.#buffers.push(buffer);
    this.#from.push(from);
    this.#end.push(end);
    this.#ascii.push(ascii);
  }

  get length(): number {
    return this.#buffers.length;
  }

  at(index: number): SourceRow | undefined {
    const i = index < 0 ? this.length + index : index;
    const buffer = this.#buffers[i];
    return buffer === undefined ? undefined : rowIn(buffer, this.#from[i]!, this.#end[i]!, this.#ascii[i]!);
  }

  *[Symbol.iterator](): Generator<SourceRow> {
    for (let i = 0; i < this.length; i++) yield this.at(i)!;
  }
}

function rowIn(buffer: Buffer, from: number, end: number, ascii: boolean): SourceRow {
  // One call for all values; a byte is a character here.
  const text = end - from <= NARROW ? buffer.toString('latin1', from, end) : undefined;
  const row = new Array<string | null>((buffer[from + MESSAGE_HEADER]! << 8) | buffer[from + MESSAGE_HEADER + 1]!);
  let at = from + MESSAGE_HEADER + 2;
  for (let i = 0; i < row.length; i++) {
    const start = at + 4;
    const length = int32(buffer, at);
    at = start + Math.max(0, length);
    const value = length < 0 ? null : text?.substring(start - from, at - from);
    row[i] =
      value === undefined || (!ascii && value !== null && NOT_ASCII.test(value))
        ? buffer.toString('utf8', start, at)
        : value;
  }
  return row;
}

export const int32 = (buffer: Buffer, at: number): number =>
  (buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!;
