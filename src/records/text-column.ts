/** A column of short texts as bytes in one buffer: nothing for the garbage collector to scan, and cheap to copy. */

/** Up to this many UTF-16 units, writing them one by one is faster than one call of `Buffer.write`. */
const SHORT = 48;
const FIRST_BYTES = 64;
const FIRST_TEXTS = 8;
/** A UTF-16 unit takes three bytes of UTF-8 at most. */
export const BYTES_A_UNIT = 3;

/** The column as it is posted to another thread. */
export interface PostedTexts {
  /** The texts in UTF-8, without anything between them. */
  readonly bytes: Uint8Array;
  /** Where each text ends in `bytes`; longer than `length` if there is room for more. */
  readonly ends: Uint32Array;
  readonly length: number;
  readonly isAscii: boolean;
}

/**
 * Texts by index. They are only appended, and do not change until {@link clear} discards all of them. They must be
 * well-formed Unicode: a lone surrogate would be stored as U+FFFD.
 */
export class TextColumn {
  #bytes: Buffer;
  #ends: Uint32Array;
  #length: number;
  #isAscii: boolean;
  /** All texts decoded; present from the first read of {@link texts} until a text is appended. */
  #texts: string[] | undefined;

  constructor(
    { bytes, ends, length, isAscii }: PostedTexts = {
      bytes: Buffer.allocUnsafeSlow(FIRST_BYTES),
      ends: new Uint32Array(FIRST_TEXTS),
      length: 0,
      isAscii: true,
    },
  ) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#ends = ends;
    this.#length = length;
    this.#isAscii = isAscii;
  }

  get #end(): number {
    return this.#length === 0 ? 0 : this.#ends[this.#length - 1]!;
  }

  /** Discards all texts and reuses their memory. */
  clear(): void {
    this.#length = 0;
    this.#isAscii = true;
    this.#texts = undefined;
  }

  /** Appends a text. */
  push(text: string): void {
    const from = this.#room(text.length * BYTES_A_UNIT);
    const end = writeText(text, this.#bytes, from);
    this.#isAscii &&= end - from === text.length;
    this.#add(end);
  }

  /** Appends the text whose UTF-8 is `bytes` from `from` to `to` (exclusive). */
  copy(bytes: Uint8Array, from: number, to: number): void {
    const start = this.#room(to - from);
    const copied = this.#bytes;
    let at = start;
    let bits = 0;
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!;
      bits |= byte;
      copied[at++] = byte;
    }
    this.#isAscii &&= isAsciiByte(bits);
    this.#add(at);
  }

  /** Makes room for a text of up to this many bytes, and returns where it begins. */
  #room(bytes: number): number {
    const from = this.#end;
    if (from + bytes > this.#bytes.length)
      this.#bytes = larger(this.#bytes, Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, from + bytes)));
    return from;
  }

  #add(end: number): void {
    if (this.#length === this.#ends.length) this.#ends = larger(this.#ends, new Uint32Array(2 * this.#length));
    this.#ends[this.#length++] = end;
    this.#texts = undefined;
  }

  /** One text, decoded anew on each call unless {@link texts} has been read. */
  at(index: number): string {
    return this.#texts?.[index] ?? this.#decoded(index);
  }

  #decoded(index: number): string {
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  /** All texts, decoded together and kept. */
  get texts(): readonly string[] {
    return (this.#texts ??= this.#all());
  }

  #all(): string[] {
    const texts = new Array<string>(this.#length);
    if (!this.#isAscii) {
      for (let i = 0; i < texts.length; i++) texts[i] = this.#decoded(i);
      return texts;
    }
    // In ASCII a byte is a character, so one call decodes all texts.
    const all = this.#bytes.toString('latin1', 0, this.#end);
    let start = 0;
    for (let i = 0; i < texts.length; i++) texts[i] = all.substring(start, (start = this.#ends[i]!));
    return texts;
  }

  /** What can be posted to another thread; posting copies it. */
  post(): PostedTexts {
    return { bytes: this.#bytes, ends: this.#ends, length: this.#length, isAscii: this.#isAscii };
  }
}

/**
 * Writes a text in UTF-8 to `bytes` from `from` on and returns where it ends. There must be room for its bytes, and for
 * {@link BYTES_A_UNIT} bytes per unit if the caller has not counted them.
 */
export function writeText(text: string, bytes: Buffer, from: number): number {
  if (text.length > SHORT) return from + bytes.write(text, from);
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bits |= unit;
    bytes[from + i] = unit;
  }
  return from + (isAsciiByte(bits) ? text.length : bytes.write(text, from));
}

/** Whether a byte, or several bytes combined with `|`, are all ASCII. */
export const isAsciiByte = (bits: number): boolean => bits < 0x80;

/** Copies the contents of `smaller` to the beginning of `array`, and returns `array`. */
export function larger<T extends Uint8Array | Uint32Array>(smaller: T, array: T): T {
  array.set(smaller);
  return array;
}
