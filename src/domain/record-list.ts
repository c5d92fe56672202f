/**
 * Mapped records, column by column. A record lives until its batch is settled, thousands of others with it: as an object
 * each, with its parts, they took more than a third of a worker's time, since all are copied twice before they are old.
 * So texts and hashes stand outside of the garbage collector's sight, and a record is made when somebody looks at it.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from './json.js';
import type { MappedRecord } from './record.js';
import type { SourceKey } from './source.js';

/** Bytes of a buffer of texts, at most: some hundreds of records, so that few are kept for the sake of one that waits. */
const TEXT_BYTES = 128 * 1024;
const FIRST_TEXT_BYTES = 512;
/** Bytes that a UTF-16 code unit takes in UTF-8, at most. */
const WIDEST = 3;
const COMMA = 0x2c;
/** Bytes of a content hash. */
export const HASH_BYTES = 16;

/** The columns; records are appended, and never change. */
export class Records {
  readonly tenants: string[] = [];
  readonly externalIds: string[] = [];
  /** A key of one value is kept as that. */
  readonly #keys: (string | SourceKey)[] = [];
  /** The JSON texts in UTF-8, a comma behind each; neighbours mostly stand behind each other. */
  readonly #buffers: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** Of the records that have one only. */
  readonly #deletions: MappedRecord['deletion'][] = [];
  #hashes = Buffer.alloc(0);
  readonly #isHashed: boolean[] = [];
  #open = Buffer.alloc(0);
  #free = 0;

  get length(): number {
    return this.#ends.length;
  }

  add(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ): MappedRecord {
    const most = json.length * WIDEST + 1;
    if (this.#open.length - this.#free < most) {
      const size = Math.max(FIRST_TEXT_BYTES, Math.min(TEXT_BYTES, 2 * this.#open.length));
      this.#open = Buffer.allocUnsafeSlow(Math.max(size, most));
      this.#free = 0;
    }
    const end = this.#free + this.#open.write(json, this.#free, 'utf8');
    this.#open[end] = COMMA;
    const index = this.#ends.length;
    this.tenants.push(tenant);
    this.externalIds.push(externalId);
    this.#keys.push(sourceKey.length === 1 ? sourceKey[0]! : sourceKey);
    this.#buffers.push(this.#open);
    this.#starts.push(this.#free);
    this.#ends.push(end);
    if (deletion !== undefined) this.#deletions[index] = deletion;
    this.#free = end + 1;
    return new RecordAt(this, index);
  }

  sourceKey(index: number): SourceKey {
    const key = this.#keys[index]!;
    return typeof key === 'string' ? [key] : key;
  }

  deletion(index: number): MappedRecord['deletion'] {
    return this.#deletions[index];
  }

  /** Bytes of the text. */
  size(index: number): number {
    return this.#ends[index]! - this.#starts[index]!;
  }

  text(index: number): Buffer {
    return this.#buffers[index]!.subarray(this.#starts[index], this.#ends[index]);
  }

  /** Writes the content hash, made when it is first asked for, to `target`. */
  copyHash(index: number, target: Buffer, at: number): void {
    const from = this.#hashed(index);
    this.#hashes.copy(target, at, from, from + HASH_BYTES);
  }

  /** 32 hex digits. */
  contentHash(index: number): string {
    const from = this.#hashed(index);
    return this.#hashes.toString('hex', from, from + HASH_BYTES);
  }

  #hashed(index: number): number {
    const from = index * HASH_BYTES;
    if (this.#isHashed[index] === true) return from;
    if (this.#hashes.length < this.length * HASH_BYTES) {
      const grown = Buffer.allocUnsafeSlow(2 * this.length * HASH_BYTES);
      this.#hashes.copy(grown);
      this.#hashes = grown;
    }
    this.#hashes.write(hash('sha256', this.text(index), 'binary'), from, HASH_BYTES, 'binary');
    this.#isHashed[index] = true;
    return from;
  }

  /** The texts as one JSON array's elements between `opening` and `closing`; neighbours are copied as one. */
  joined(indexes: readonly number[], opening: string, closing: string): Buffer {
    const parts: Uint8Array[] = [Buffer.from(opening)];
    for (let i = 0; i < indexes.length;) {
      const buffer = this.#buffers[indexes[i]!]!;
      const start = this.#starts[indexes[i]!]!;
      let end = this.#ends[indexes[i]!]!;
      while (
        ++i < indexes.length &&
        this.#buffers[indexes[i]!] === buffer &&
        this.#starts[indexes[i]!] === end + 1
      )
        end = this.#ends[indexes[i]!]!;
      parts.push(buffer.subarray(start, i < indexes.length ? end + 1 : end));
    }
    return Buffer.concat([...parts, Buffer.from(closing)]);
  }
}

/** A record as one looks at it. */
class RecordAt implements MappedRecord {
  readonly #records: Records;
  readonly #index: number;

  constructor(records: Records, index: number) {
    this.#records = records;
    this.#index = index;
  }

  get kind(): 'record' {
    return 'record';
  }

  get tenant(): string {
    return this.#records.tenants[this.#index]!;
  }

  get externalId(): string {
    return this.#records.externalIds[this.#index]!;
  }

  get sourceKey(): SourceKey {
    return this.#records.sourceKey(this.#index);
  }

  get deletion(): MappedRecord['deletion'] {
    return this.#records.deletion(this.#index);
  }

  get json(): string {
    return this.#records.text(this.#index).toString('utf8');
  }

  get data(): JsonObject {
    return JSON.parse(this.json) as JsonObject;
  }

  get contentHash(): string {
    return this.#records.contentHash(this.#index);
  }
}

/** Some of the records, in an order. */
export class RecordList implements Iterable<MappedRecord> {
  readonly #records: Records;
  readonly #indexes: readonly number[];

  constructor(records: Records, indexes: readonly number[] = Array.from(records.externalIds.keys())) {
    this.#records = records;
    this.#indexes = indexes;
  }

  static of(records: Iterable<MappedRecord>): RecordList {
    const copied = new Records();
    for (const { tenant, externalId, sourceKey, json, deletion } of records)
      copied.add(tenant, externalId, sourceKey, json, deletion);
    return new RecordList(copied);
  }

  get length(): number {
    return this.#indexes.length;
  }

  at(index: number): MappedRecord {
    return new RecordAt(this.#records, this.#indexes[index]!);
  }

  *[Symbol.iterator](): Generator<MappedRecord> {
    for (const index of this.#indexes) yield new RecordAt(this.#records, index);
  }

  map<T>(make: (record: MappedRecord, index: number) => T): T[] {
    return this.#indexes.map((at, index) => make(new RecordAt(this.#records, at), index));
  }

  filter(isWanted: (record: MappedRecord, index: number) => boolean): RecordList {
    return this.pick((index) => isWanted(this.at(index), index));
  }

  /** Those of whose index in the list it is true. */
  pick(isWanted: (index: number) => boolean): RecordList {
    return new RecordList(
      this.#records,
      this.#indexes.filter((_, index) => isWanted(index)),
    );
  }

  /** Those at these indexes of the list. */
  some(indexes: readonly number[]): RecordList {
    return new RecordList(
      this.#records,
      indexes.map((index) => this.#indexes[index]!),
    );
  }

  slice(from: number, to?: number): RecordList {
    return new RecordList(this.#records, this.#indexes.slice(from, to));
  }

  /** Tenants of the records, each once. */
  get tenants(): ReadonlySet<string> {
    const tenants = new Set<string>();
    for (let i = 0; i < this.length; i++) tenants.add(this.tenantAt(i));
    return tenants;
  }

  tenantAt(index: number): string {
    return this.#records.tenants[this.#indexes[index]!]!;
  }

  deletionAt(index: number): MappedRecord['deletion'] {
    return this.#records.deletion(this.#indexes[index]!);
  }

  /** Bytes of the record's text. */
  sizeAt(index: number): number {
    return this.#records.size(this.#indexes[index]!);
  }

  get externalIds(): string[] {
    const { externalIds } = this.#records;
    return this.#indexes.map((index) => externalIds[index]!);
  }

  /** Content hashes, {@link HASH_BYTES} each, one behind the other. */
  get hashes(): Buffer {
    const hashes = Buffer.allocUnsafeSlow(this.length * HASH_BYTES);
    this.#indexes.forEach((index, i) => this.#records.copyHash(index, hashes, i * HASH_BYTES));
    return hashes;
  }

  /** A JSON text: the records as an array's elements, between `opening` and `closing`. */
  joined(opening: string, closing: string): Buffer {
    return this.#records.joined(this.#indexes, opening, closing);
  }
}

/** A record that stands alone. */
export const recordOf = (
  tenant: string,
  externalId: string,
  sourceKey: SourceKey,
  json: string,
  deletion?: MappedRecord['deletion'],
): MappedRecord => new Records().add(tenant, externalId, sourceKey, json, deletion);
