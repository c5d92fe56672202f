/**
 * Mapped records, column by column. A record lives until its batch is settled, thousands of others with it: as an object
 * each, with its parts, the collector would copy all of them twice before they are old (ADR 0024).
 * So texts and hashes stand outside of the garbage collector's sight, and a record is made when somebody looks at it.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from './json.js';
import type { MappedRecord } from './record.js';
import type { SourceKey } from './source.js';
import { join, split, type Texts } from './texts.js';

/**
 * Characters of texts that are written into one buffer, about: one call does for many records, and few of them wait for it as
 * strings.
 */
const TEXT_CHARACTERS = 32 * 1024;
/** Bytes of a content hash. */
const HASH_BYTES = 16;

/** Numbers of each record's place: buffer, start and end of its text, and tenant. */
const enum Of {
  Buffer,
  Start,
  End,
  Tenant,
  Numbers,
}

/** The columns as they go to another thread: the arrays of numbers and bytes are handed over, the rest is copied. */
export interface SentRecords {
  readonly externalIds: Texts;
  readonly keys: Texts | readonly (string | SourceKey)[];
  readonly places: Uint32Array;
  readonly tenants: readonly string[];
  readonly buffers: readonly Uint8Array[];
  readonly deletions: readonly MappedRecord['deletion'][];
}

/** The columns; records are appended, and never change. */
export class Records {
  externalIds: string[] = [];
  /** A key of one value is kept as that. */
  #keys: (string | SourceKey)[] = [];
  #places: Uint32Array = new Uint32Array(Of.Numbers);
  #tenants: string[] = [];
  /** The JSON texts in UTF-8, a comma behind each. */
  #buffers: Buffer[] = [];
  /** The last records' texts, as long as they stand in no buffer. */
  #unwritten: string[] = [];
  #unwrittenCharacters = 0;
  /** Of the records that have one only. */
  #deletions: MappedRecord['deletion'][] = [];
  #hashes: Buffer = Buffer.alloc(0);
  #isHashed = new Uint8Array(0);

  get length(): number {
    return this.externalIds.length;
  }

  add(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ): MappedRecord {
    const index = this.externalIds.push(externalId) - 1;
    this.#keys.push(sourceKey.length === 1 ? sourceKey[0]! : sourceKey);
    if (deletion !== undefined) this.#deletions[index] = deletion;
    const place = index * Of.Numbers;
    if (place === this.#places.length) this.#places = larger(this.#places, new Uint32Array(2 * place));
    this.#places[place + Of.Tenant] = this.#tenantIndex(tenant);
    this.#unwritten.push(json);
    this.#unwrittenCharacters += json.length + 1;
    if (this.#unwrittenCharacters >= TEXT_CHARACTERS) this.#write();
    return new RecordAt(this, index);
  }

  /** Writes what is unwritten into one buffer. */
  #write(): void {
    const texts = this.#unwritten;
    // The empty one for the last comma: put behind the text, it would have all of it copied.
    const buffer = Buffer.from([...texts, ''].join());
    // Then nobody needs to count bytes.
    const isAscii = buffer.length === this.#unwrittenCharacters;
    let place = (this.length - texts.length) * Of.Numbers;
    let free = 0;
    for (const text of texts) {
      this.#places[place + Of.Buffer] = this.#buffers.length;
      this.#places[place + Of.Start] = free;
      free += isAscii ? text.length : Buffer.byteLength(text);
      this.#places[place + Of.End] = free++;
      place += Of.Numbers;
    }
    this.#buffers.push(buffer);
    this.#unwritten = [];
    this.#unwrittenCharacters = 0;
  }

  /** Where the texts stand. */
  #written(): Uint32Array {
    if (this.#unwritten.length > 0) this.#write();
    return this.#places;
  }

  #tenantIndex(tenant: string): number {
    const last = this.#tenants.length - 1;
    if (this.#tenants[last] === tenant) return last;
    // Where tenants alternate, each change is noted: cheaper than looking for the one before.
    return this.#tenants.push(tenant) - 1;
  }

  tenant(index: number): string {
    return this.#tenants[this.#places[index * Of.Numbers + Of.Tenant]!]!;
  }

  sourceKey(index: number): SourceKey {
    const key = this.#keys[index]!;
    return Array.isArray(key) ? (key as SourceKey) : [key as string];
  }

  deletion(index: number): MappedRecord['deletion'] {
    return this.#deletions[index];
  }

  /** Bytes of the text. */
  size(index: number): number {
    const places = this.#written();
    return places[index * Of.Numbers + Of.End]! - places[index * Of.Numbers + Of.Start]!;
  }

  text(index: number): Buffer {
    const places = this.#written();
    const place = index * Of.Numbers;
    return this.#buffers[places[place + Of.Buffer]!]!.subarray(places[place + Of.Start], places[place + Of.End]);
  }

  /** Content hashes, one behind the other; each is made when it is first asked for. */
  hashes(indexes: Uint32Array): Buffer {
    const hashes = Buffer.allocUnsafeSlow(indexes.length * HASH_BYTES);
    for (let i = 0; i < indexes.length;) {
      const first = i;
      const from = this.#hashed(indexes[first]!);
      for (i++; i < indexes.length && indexes[i] === indexes[i - 1]! + 1; i++) this.#hashed(indexes[i]!);
      this.#hashes.copy(hashes, first * HASH_BYTES, from, from + (i - first) * HASH_BYTES);
    }
    return hashes;
  }

  /** 32 hex digits. */
  contentHash(index: number): string {
    const from = this.#hashed(index);
    return this.#hashes.toString('hex', from, from + HASH_BYTES);
  }

  #hashed(index: number): number {
    const from = index * HASH_BYTES;
    if (this.#isHashed[index] === 1) return from;
    if (this.#isHashed.length < this.length) {
      this.#isHashed = larger(this.#isHashed, new Uint8Array(2 * this.length));
      this.#hashes = larger(this.#hashes, Buffer.allocUnsafeSlow(2 * this.length * HASH_BYTES));
    }
    this.#hashes.write(hash('sha256', this.text(index), 'binary'), from, HASH_BYTES, 'binary');
    this.#isHashed[index] = 1;
    return from;
  }

  /** For another thread, with what is to be handed over; this one must not use the records any more. */
  send(): { readonly records: SentRecords; readonly handedOver: ArrayBuffer[] } {
    const places = this.#written();
    // A short one stands in a buffer that it shares with others.
    const buffers = this.#buffers.map((buffer) =>
      buffer.length === buffer.buffer.byteLength ? buffer : new Uint8Array(buffer),
    );
    const keys = this.#keys.every((key) => typeof key === 'string') ? join(this.#keys) : this.#keys;
    return {
      records: {
        ...{ externalIds: join(this.externalIds), keys, places, buffers },
        ...{ tenants: this.#tenants, deletions: this.#deletions },
      },
      handedOver: [places, ...buffers].map(({ buffer }) => buffer as ArrayBuffer),
    };
  }

  static received({ externalIds, keys, places, tenants, buffers, deletions }: SentRecords): Records {
    const records = new Records();
    records.externalIds = split(externalIds);
    records.#keys = 'text' in keys ? split(keys) : [...keys];
    records.#places = places;
    records.#tenants = [...tenants];
    records.#buffers = buffers.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    records.#deletions = [...deletions];
    return records;
  }

  /** The texts as one JSON array's elements between `opening` and `closing`; neighbours are copied as one. */
  joined(indexes: Uint32Array, opening: string, closing: string): Buffer {
    const parts: Uint8Array[] = [Buffer.from(opening)];
    const places = this.#written();
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
}

/** `array` with the numbers of the smaller one. */
function larger<T extends Uint8Array | Uint32Array>(smaller: T, array: T): T {
  array.set(smaller);
  return array;
}

/** A record as one looks at it. It has no properties of its own: copied or compared as an object it would be empty. */
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
    return this.#records.tenant(this.#index);
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
  readonly #indexes: Uint32Array;

  constructor(records: Records, indexes?: Uint32Array) {
    this.#records = records;
    this.#indexes = indexes ?? new Uint32Array(records.length).map((_, index) => index);
  }

  /** As {@link Records.send}, of a list that holds all of its records. */
  send(): ReturnType<Records['send']> {
    return this.#records.send();
  }

  static received(sent: SentRecords): RecordList {
    return new RecordList(Records.received(sent));
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
    return Array.from(this.#indexes, (at, index) => make(new RecordAt(this.#records, at), index));
  }

  filter(isWanted: (record: MappedRecord) => boolean): RecordList {
    return this.pick((index) => isWanted(this.at(index)));
  }

  /** Those of whose index in the list it is true. */
  pick(isWanted: (index: number) => boolean): RecordList {
    return new RecordList(
      this.#records,
      this.#indexes.filter((_, index) => isWanted(index)),
    );
  }

  /** Those at these indexes of the list. */
  only(indexes: readonly number[]): RecordList {
    const wanted = new Uint32Array(indexes.length);
    for (let i = 0; i < indexes.length; i++) wanted[i] = this.#indexes[indexes[i]!]!;
    return new RecordList(this.#records, wanted);
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
    return this.#records.tenant(this.#indexes[index]!);
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
    const ids = new Array<string>(this.length);
    for (let i = 0; i < ids.length; i++) ids[i] = externalIds[this.#indexes[i]!]!;
    return ids;
  }

  /** Content hashes, {@link HASH_BYTES} each, one behind the other. */
  get hashes(): Buffer {
    return this.#records.hashes(this.#indexes);
  }

  /** The same, each as 32 hex digits. */
  get contentHashes(): string[] {
    const digits = this.hashes.toString('hex');
    const hashes = new Array<string>(this.length);
    for (let i = 0; i < hashes.length; i++) hashes[i] = digits.substring(2 * HASH_BYTES * i, 2 * HASH_BYTES * (i + 1));
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

/** The record by itself, so that its neighbours are not kept for its sake. */
export const aloneOf = ({ tenant, externalId, sourceKey, json, deletion }: MappedRecord): MappedRecord =>
  recordOf(tenant, externalId, sourceKey, json, deletion);
