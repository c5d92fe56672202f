/** A column of short texts as bytes, of which the garbage collector sees nothing, and which are quickly copied. */

/** Up to so many characters writing one by one is faster than a call that writes all. */
const SHORT = 48;
const FIRST_BYTES = 64;
const FIRST_TEXTS = 8;
/** UTF-16 units become three bytes at most. */
export const BYTES_A_UNIT = 3;

/** The column as it goes to another thread: in UTF-8, one behind the other. */
export interface SentTexts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly length: number;
  readonly isAscii: boolean;
}

/** Texts are appended, and never change until all are forgotten; they are well-formed Unicode. */
export class TextColumn {
  #bytes: Buffer;
  #ends: Uint32Array;
  #length: number;
  #isAscii: boolean;
  /** All of them, where somebody has asked for all. */
  #texts: string[] | undefined;

  constructor(
    { bytes, ends, length, isAscii }: SentTexts = {
      ...{ bytes: Buffer.allocUnsafeSlow(FIRST_BYTES), ends: new Uint32Array(FIRST_TEXTS) },
      ...{ length: 0, isAscii: true },
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

  /** Forgets all texts; their memory is written again. */
  clear(): void {
    this.#length = 0;
    this.#isAscii = true;
    this.#texts = undefined;
  }

  push(text: string): void {
    const from = this.#room(text.length * BYTES_A_UNIT);
    const end = writeText(text, this.#bytes, from);
    this.#isAscii &&= end - from === text.length;
    this.#add(end);
  }

  /** Appends the text of these bytes. */
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

  /** Where the next text begins, with room for so many bytes. */
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

  at(index: number): string {
    return this.#texts?.[index] ?? this.#decoded(index);
  }

  #decoded(index: number): string {
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  get texts(): readonly string[] {
    return (this.#texts ??= this.#all());
  }

  #all(): string[] {
    const texts = new Array<string>(this.#length);
    if (!this.#isAscii) {
      for (let i = 0; i < texts.length; i++) texts[i] = this.#decoded(i);
      return texts;
    }
    // A byte is a character: one call does for all.
    const all = this.#bytes.toString('latin1', 0, this.#end);
    let start = 0;
    for (let i = 0; i < texts.length; i++) texts[i] = all.substring(start, (start = this.#ends[i]!));
    return texts;
  }

  send(): SentTexts {
    return { bytes: this.#bytes, ends: this.#ends, length: this.#length, isAscii: this.#isAscii };
  }
}

/** Writes the text in UTF-8, and answers where it ends; there is room for three bytes a unit. */
export function writeText(text: string, bytes: Buffer, from: number): number {
  if (text.length > SHORT) return from + bytes.write(text, from);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (!isAsciiByte(unit)) return from + bytes.write(text, from);
    bytes[from + i] = unit;
  }
  return from + text.length;
}

/** Whether the byte, or the bits of some bytes together, are of ASCII. */
export const isAsciiByte = (bits: number): boolean => bits < 0x80;

/** `array` with the numbers of the smaller one. */
export function larger<T extends Uint8Array | Uint32Array>(smaller: T, array: T): T {
  array.set(smaller);
  return array;
}
