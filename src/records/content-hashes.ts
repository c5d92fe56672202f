/** Content hashes of the records of one list, each computed when it is first needed and kept as bytes. */
import { hash } from 'node:crypto';
import type { RecordTexts } from './record-texts.js';
import { larger } from './text-column.js';

/**
 * Bytes of a content hash: the first 128 bits of the SHA-256 of the record's JSON text. That of a record that marks one as deleted
 * begins with {@link MARK_BYTES} zeros, so that marked records can be told from the others by their hashes alone.
 */
export const HASH_BYTES = 16;

/** A hash of other content begins with so many zeros by chance in one of four thousand million records. */
export const MARK_BYTES = 4;

/** The hashes as they are posted to another thread. */
export interface PostedHashes {
  /** {@link HASH_BYTES} per record; only those marked in `isHashed` are valid. */
  readonly bytes: Uint8Array;
  /** 1 if the hash of the record has been computed. */
  readonly isHashed: Uint8Array;
}

/** The hashes of the finished texts of `texts`; both arrays grow with the number of texts. */
export class ContentHashes {
  readonly #texts: RecordTexts;
  readonly #isMark: (index: number) => boolean;
  #bytes: Buffer;
  #isHashed: Uint8Array;

  /** @param isMark whether the record marks one as deleted */
  constructor(
    texts: RecordTexts,
    isMark: (index: number) => boolean,
    { bytes, isHashed }: PostedHashes = { bytes: NO_BYTES, isHashed: NO_BYTES },
  ) {
    this.#texts = texts;
    this.#isMark = isMark;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#isHashed = isHashed;
  }

  /** To be called when the texts are discarded; the memory is kept. */
  clear(): void {
    this.#isHashed.fill(0);
  }

  /** The hashes of the records at these indexes, {@link HASH_BYTES} each, one after the other. */
  of(indexes: Uint32Array): Buffer {
    const hashes = Buffer.allocUnsafeSlow(indexes.length * HASH_BYTES);
    let i = 0;
    while (i < indexes.length) {
      // Hashes of consecutive records are adjacent, and are copied in one call.
      const first = i;
      const from = this.#hashed(indexes[first]!);
      for (i++; i < indexes.length && indexes[i] === indexes[i - 1]! + 1; i++) this.#hashed(indexes[i]!);
      this.#bytes.copy(hashes, first * HASH_BYTES, from, from + (i - first) * HASH_BYTES);
    }
    return hashes;
  }

  /** The hash of one record as 32 hex digits. */
  digits(index: number): string {
    const from = this.#hashed(index);
    return this.#bytes.toString('hex', from, from + HASH_BYTES);
  }

  /** Computes all hashes that have not been needed yet. */
  computeAll(): void {
    for (let i = 0; i < this.#texts.length; i++) this.#hashed(i);
  }

  /** What can be posted to another thread; posting copies it. */
  post(): PostedHashes {
    return { bytes: this.#bytes, isHashed: this.#isHashed };
  }

  /** Where the hash of the record begins in `#bytes`, computed if need be. */
  #hashed(index: number): number {
    const from = index * HASH_BYTES;
    if (this.#isHashed[index] === 1) return from;
    const { length } = this.#texts;
    if (this.#isHashed.length < length) {
      const room = Math.max(length, 2 * this.#isHashed.length);
      this.#isHashed = larger(this.#isHashed, new Uint8Array(room));
      this.#bytes = larger(this.#bytes, Buffer.allocUnsafeSlow(room * HASH_BYTES));
    }
    // In the encoding `binary` a character is a byte; 16 single writes are faster than one call of Buffer.write.
    const digest = hash('sha256', this.#texts.text(index), 'binary');
    for (let i = 0; i < HASH_BYTES; i++) this.#bytes[from + i] = digest.charCodeAt(i);
    if (this.#isMark(index)) this.#bytes.fill(0, from, from + MARK_BYTES);
    this.#isHashed[index] = 1;
    return from;
  }
}

const NO_BYTES = new Uint8Array(0);
