/** Reads the parts of a binary message one after the other, and never beyond its end. */
import { PartnerSyncError } from '../../../domain/errors.js';

/** The error for a message that is not as PostgreSQL documents it. It must not quote the message, which contains values. */
export const malformed = (what: string): PartnerSyncError =>
  new PartnerSyncError(
    'unexpected',
    `source: a message of the slot ${what}; the server, or something between it and here, does not keep to the protocol`,
  );

/** Every method throws if fewer bytes are left than it needs. */
export class MessageBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Unsigned. */
  integer(bytes: 1 | 2 | 4): number {
    return this.#bytes.readUIntBE(this.#next(bytes), bytes);
  }

  /** Of four bytes. */
  int32(): number {
    return this.#bytes.readInt32BE(this.#next(4));
  }

  /** Of eight bytes, unsigned. */
  long(): bigint {
    return this.#bytes.readBigUInt64BE(this.#next(8));
  }

  /** A character of one byte. */
  character(): string {
    return String.fromCharCode(this.integer(1));
  }

  /** A text that ends with a zero byte. */
  name(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw malformed('ends in the middle of a name');
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** The next `length` bytes, not copied. */
  take(length: number): Buffer {
    const from = this.#next(length);
    return this.#bytes.subarray(from, from + length);
  }

  /** Throws unless everything has been read. */
  end(): void {
    if (this.#at < this.#bytes.length) throw malformed('is longer than its content');
  }

  /** Where the next `length` bytes begin. */
  #next(length: number): number {
    const from = this.#at;
    if (length < 0 || from + length > this.#bytes.length) throw malformed('ends too early');
    this.#at += length;
    return from;
  }
}
