/**
 * The JSON texts of mapped records in UTF-8, in large buffers that the garbage collector does not scan. A text is written
 * piece by piece in its final place, and is then either finished or undone.
 */
import { BYTES_A_UNIT, larger, writeText } from './text-column.js';

/** Size of a buffer that is shared by many texts: allocating one per text would cost more than writing the text. */
const BUFFER_BYTES = 32 * 1024;
const FIRST_BYTES = 256;
const COMMA = ','.charCodeAt(0);
/** Beyond this many UTF-16 units the bytes of a text are counted before room is made for it. */
const COUNTED = 1024;

/** The numbers that locate a text: index of its buffer, first byte, end. `Numbers` is how many there are per text. */
const enum Of {
  Buffer,
  Start,
  End,
  Numbers,
}

/** The texts as they are posted to another thread; `places` has {@link Of.Numbers} entries for each of `length` texts. */
export interface PostedRecordTexts {
  readonly buffers: readonly Uint8Array[];
  readonly places: Uint32Array;
  readonly length: number;
}

/**
 * Finished texts, and one that is being written. Writers on the hot path bypass the methods: they call {@link room}, write
 * to `bytes` from `at` on, and then set `at` to the end of what they wrote.
 */
export class RecordTexts {
  /** The buffer of the text that is being written; {@link room} may replace it. */
  bytes: Buffer = NOWHERE;
  /** Where the next byte is written, in `bytes`. */
  at = 0;
  /** Where the text that is being written begins, in `bytes`. */
  start = 0;
  /** Each text is followed by a comma, so that {@link joined} can copy neighbours in one piece. */
  #buffers: Buffer[] = [];
  #places: Uint32Array = new Uint32Array(Of.Numbers);
  #length = 0;
  /** Buffers of texts that {@link clear} has discarded, for reuse. */
  readonly #spare: Buffer[] = [];

  /** Takes over texts that {@link post} gave in another thread. */
  static received({ buffers, places, length }: PostedRecordTexts): RecordTexts {
    const texts = new RecordTexts();
    texts.#buffers = buffers.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    texts.#places = places;
    texts.#length = length;
    return texts;
  }

  /** How many texts are finished. */
  get length(): number {
    return this.#length;
  }

  /** Makes room for this many more bytes. `bytes`, `at` and `start` may have changed afterwards. */
  room(bytes: number): void {
    if (this.at + bytes < this.bytes.length) return;
    const { written } = this;
    const usual = Math.min(BUFFER_BYTES, Math.max(FIRST_BYTES, 2 * this.bytes.length));
    // One more, for the comma that `finish` appends.
    const buffer = this.#buffer(Math.max(usual, 2 * written + bytes + 1));
    this.bytes.copy(buffer, 0, this.start, this.at);
    this.start = 0;
    this.at = written;
    this.bytes = buffer;
  }

  /** A spare buffer that is too small is dropped: kept, it would hide the others, and their number would grow. */
  #buffer(bytes: number): Buffer {
    const spare = this.#spare.pop();
    return spare !== undefined && spare.length >= bytes ? spare : Buffer.allocUnsafeSlow(bytes);
  }

  /** Discards all texts and reuses their memory: no list of these texts may be read afterwards. */
  clear(): void {
    this.#spare.push(...this.#buffers);
    this.#buffers = [];
    this.#length = 0;
    this.bytes = NOWHERE;
    this.at = 0;
    this.start = 0;
  }

  /** Appends a byte; the caller has made {@link room} for it. */
  put(byte: number): void {
    this.bytes[this.at++] = byte;
  }

  /** Appends bytes `from` to `to` (exclusive). */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.room(to - from);
    const target = this.bytes;
    let at = this.at;
    for (let i = from; i < to; i++) target[at++] = bytes[i]!;
    this.at = at;
  }

  /** Appends a text in UTF-8. */
  write(text: string): void {
    // For a long text, room for three bytes per unit would allocate up to three times what it needs, and keep it.
    this.room(text.length > COUNTED ? Buffer.byteLength(text) : text.length * BYTES_A_UNIT);
    this.at = writeText(text, this.bytes, this.at);
  }

  /** How many bytes of the current text have been written. */
  get written(): number {
    return this.at - this.start;
  }

  /** Drops what was written of the current text beyond its first `written` bytes. */
  undo(written = 0): void {
    this.at = this.start + written;
  }

  /** Ends the current text: it gets the next index, and a new text begins. */
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

  /** Length of a finished text in bytes. */
  size(index: number): number {
    const place = index * Of.Numbers;
    return this.#places[place + Of.End]! - this.#places[place + Of.Start]!;
  }

  /** The bytes of a finished text: a view, not a copy. */
  text(index: number): Buffer {
    const place = index * Of.Numbers;
    return this.#buffers[this.#places[place + Of.Buffer]!]!.subarray(
      this.#places[place + Of.Start],
      this.#places[place + Of.End],
    );
  }

  /** The texts at these indexes, separated by commas, between `opening` and `closing`, as a new buffer. */
  joined(indexes: Uint32Array, opening: string, closing: string): Buffer {
    const parts: Uint8Array[] = [Buffer.from(opening)];
    const places = this.#places;
    let i = 0;
    while (i < indexes.length) {
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

  /** What can be posted to another thread; posting copies it. */
  post(): PostedRecordTexts {
    return { buffers: this.#buffers, places: this.#places, length: this.#length };
  }
}

const NOWHERE = Buffer.alloc(0);
