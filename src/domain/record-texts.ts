/**
 * The JSON texts of mapped records in UTF-8, outside of the garbage collector's sight. A text is written piece by piece where it
 * will stay, and either finished or undone.
 */
import { BYTES_A_UNIT, larger, writeText } from './texts.js';

/** Bytes of a buffer that holds many texts: allocating one each would cost more than writing it. */
const BUFFER_BYTES = 32 * 1024;
const FIRST_BYTES = 256;
const COMMA = ','.charCodeAt(0);
/** Longer texts than this. */
const COUNTED = 1024;

/** Numbers of each text's place. */
const enum Of {
  Buffer,
  Start,
  End,
  Numbers,
}

/** The texts as they go to another thread. */
export interface SentRecordTexts {
  readonly buffers: readonly Uint8Array[];
  readonly places: Uint32Array;
  readonly length: number;
}

export class RecordTexts {
  /** Where the text that is being written goes on: {@link room}, then bytes from `at` on, then `at` behind them. */
  bytes: Buffer = NOWHERE;
  at = 0;
  /** Where the text began, in `bytes`. */
  start = 0;
  /** A comma behind each text. */
  #buffers: Buffer[] = [];
  #places: Uint32Array = new Uint32Array(Of.Numbers);
  #length = 0;
  /** Buffers of texts that were {@link clear forgotten}. */
  readonly #spare: Buffer[] = [];

  static received({ buffers, places, length }: SentRecordTexts): RecordTexts {
    const texts = new RecordTexts();
    texts.#buffers = buffers.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    texts.#places = places;
    texts.#length = length;
    return texts;
  }

  /** Makes sure that so many bytes can be written; `bytes` and `at` may be others afterwards. */
  room(bytes: number): void {
    if (this.at + bytes < this.bytes.length) return;
    const { written } = this;
    const usual = Math.min(BUFFER_BYTES, Math.max(FIRST_BYTES, 2 * this.bytes.length));
    // One more, for the comma.
    const buffer = this.#buffer(Math.max(usual, 2 * written + bytes + 1));
    this.bytes.copy(buffer, 0, this.start, this.at);
    this.start = 0;
    this.at = written;
    this.bytes = buffer;
  }

  #buffer(bytes: number): Buffer {
    const fits = (this.#spare.at(-1)?.length ?? 0) >= bytes;
    return fits ? this.#spare.pop()! : Buffer.allocUnsafeSlow(bytes);
  }

  /** Forgets all texts; their memory is written again. */
  clear(): void {
    this.#spare.push(...this.#buffers);
    this.#buffers = [];
    this.#length = 0;
    this.bytes = NOWHERE;
    this.at = 0;
    this.start = 0;
  }

  /** A byte for which there is {@link room}. */
  put(byte: number): void {
    this.bytes[this.at++] = byte;
  }

  /** Bytes as they are. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.room(to - from);
    const target = this.bytes;
    let at = this.at;
    for (let i = from; i < to; i++) target[at++] = bytes[i]!;
    this.at = at;
  }

  write(text: string): void {
    // Of long ones the bytes are counted: room for three times as many would be taken for good.
    this.room(text.length > COUNTED ? Buffer.byteLength(text) : text.length * BYTES_A_UNIT);
    this.at = writeText(text, this.bytes, this.at);
  }

  /** How many bytes of the text have been written. */
  get written(): number {
    return this.at - this.start;
  }

  /** Takes back what was written beyond so many bytes. */
  undo(written = 0): void {
    this.at = this.start + written;
  }

  finish(): void {
    this.room(0);
    if (this.#buffers.at(-1) !== this.bytes) this.#buffers.push(this.bytes);
    const place = this.#length++ * Of.Numbers;
    if (place === this.#places.length) this.#places = larger(this.#places, new Uint32Array(2 * place));
    this.#places[place + Of.Buffer] = this.#buffers.length - 1;
    this.#places[place + Of.Start] = this.start;
    this.#places[place + Of.End] = this.at;
    this.bytes[this.at++] = COMMA;
    this.start = this.at;
  }

  /** Bytes of a text. */
  size(index: number): number {
    const place = index * Of.Numbers;
    return this.#places[place + Of.End]! - this.#places[place + Of.Start]!;
  }

  text(index: number): Buffer {
    const place = index * Of.Numbers;
    return this.#buffers[this.#places[place + Of.Buffer]!]!.subarray(
      this.#places[place + Of.Start],
      this.#places[place + Of.End],
    );
  }

  /** The texts as one JSON array's elements between `opening` and `closing`; neighbours are copied as one. */
  joined(indexes: Uint32Array, opening: string, closing: string): Buffer {
    const parts: Uint8Array[] = [Buffer.from(opening)];
    const places = this.#places;
    for (let i = 0; i < indexes.length;) {
      const place = indexes[i]! * Of.Numbers;
      const buffer = places[place + Of.Buffer]!;
      let end = places[place + Of.End]!;
      for (i++; i < indexes.length; i++) {
        const next = indexes[i]! * Of.Numbers;
        if (places[next + Of.Buffer] !== buffer || places[next + Of.Start] !== end + 1) break;
        end = places[next + Of.End]!;
      }
      const comma = i < indexes.length ? 1 : 0;
      parts.push(this.#buffers[buffer]!.subarray(places[place + Of.Start], end + comma));
    }
    return Buffer.concat([...parts, Buffer.from(closing)]);
  }

  send(): SentRecordTexts {
    return { buffers: this.#buffers, places: this.#places, length: this.#length };
  }
}

const NOWHERE = Buffer.alloc(0);
