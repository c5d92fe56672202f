/**
 * Mapped records, column by column. A record lives until its batch is settled, thousands of others with it: as an object
 * each, with its parts, the collector would copy all of them twice before they are old (ADR 0024).
 * So texts and hashes stand outside of the garbage collector's sight, and a record is made when somebody looks at it.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from './json.js';
import type { MappedRecord } from './record.js';
import { RecordTexts, type SentRecordTexts } from './record-texts.js';
import type { ByteRow, SourceKey } from './source.js';
import { larger, TextColumn, type SentTexts } from './texts.js';

/** Bytes of a content hash. */
export const HASH_BYTES = 16;

/**
 * The columns as they go to another thread. They are copied: once a thread has handed over any buffer, its engine looks
 * before each byte of every other one whether that is still there (docs/performance.md).
 */
export interface SentRecords {
  readonly externalIds: SentTexts;
  readonly keys: readonly SentTexts[];
  readonly texts: SentRecordTexts;
  readonly tenants: readonly string[];
  readonly tenantOf: Uint32Array;
  readonly deletions: readonly MappedRecord['deletion'][];
  readonly hashes: Uint8Array;
  readonly isHashed: Uint8Array;
}

/** A part of a text, in bytes. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The columns; records are appended, and never change until all are forgotten. All have keys of as many values. */
export class Records {
  /** The JSON texts; a record's own is written there before it is {@link append appended}. */
  readonly texts: RecordTexts;
  readonly #externalIds: TextColumn;
  #keys: TextColumn[] = [];
  #tenants: string[] = [];
  /** Index of each record's tenant. */
  #tenantOf: Uint32Array = new Uint32Array(1);
  #length = 0;
  /** Of the records that have one only. */
  #deletions: MappedRecord['deletion'][] = [];
  #hashes: Buffer = Buffer.alloc(0);
  #isHashed: Uint8Array = new Uint8Array(0);

  constructor(texts = new RecordTexts(), externalIds = new TextColumn()) {
    this.texts = texts;
    this.#externalIds = externalIds;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets all records, of which no list may be in use any more; their memory is written again. */
  clear(): void {
    this.texts.clear();
    for (const column of [this.#externalIds, ...this.#keys]) column.clear();
    this.#tenants = [];
    this.#length = 0;
    this.#deletions = [];
    this.#isHashed.fill(0);
  }

  add(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ): MappedRecord {
    this.texts.write(json);
    this.texts.finish();
    this.#externalIds.push(externalId);
    const keys = this.#keyColumns(sourceKey.length);
    for (let i = 0; i < keys.length; i++) keys[i]!.push(sourceKey[i]!);
    if (deletion !== undefined) this.#deletions[this.#length] = deletion;
    return new RecordAt(this, this.#added(tenant));
  }

  /**
   * A record whose text has just been written to {@link texts}, of a row that is bytes yet: its external id stands in
   * the text at `id`, and its key in these columns of the row.
   */
  append(tenant: string, id: Span, row: ByteRow, keyColumns: readonly number[]): void {
    const { start, bytes } = this.texts;
    this.#externalIds.copy(bytes, start + id.from, start + id.to);
    this.texts.finish();
    const keys = this.#keyColumns(keyColumns.length);
    for (let i = 0; i < keys.length; i++) {
      const column = keyColumns[i]!;
      keys[i]!.copy(row.bytes, row.starts[column]!, row.ends[column]!);
    }
    this.#added(tenant);
  }

  #keyColumns(count: number): TextColumn[] {
    if (this.#keys.length !== count) this.#keys = Array.from({ length: count }, () => new TextColumn());
    return this.#keys;
  }

  #added(tenant: string): number {
    const index = this.#length++;
    if (index === this.#tenantOf.length) this.#tenantOf = larger(this.#tenantOf, new Uint32Array(2 * index));
    this.#tenantOf[index] = this.#tenantIndex(tenant);
    return index;
  }

  #tenantIndex(tenant: string): number {
    const last = this.#tenants.length - 1;
    if (this.#tenants[last] === tenant) return last;
    // Where tenants alternate, each change is noted: cheaper than looking for the one before.
    return this.#tenants.push(tenant) - 1;
  }

  tenant(index: number): string {
    return this.#tenants[this.#tenantOf[index]!]!;
  }

  externalId(index: number): string {
    return this.#externalIds.at(index);
  }

  get externalIds(): readonly string[] {
    return this.#externalIds.texts;
  }

  sourceKey(index: number): SourceKey {
    return this.#keys.map((column) => column.at(index));
  }

  deletion(index: number): MappedRecord['deletion'] {
    return this.#deletions[index];
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

  /** Makes all that have not been made yet. */
  makeHashes(): void {
    for (let i = 0; i < this.length; i++) this.#hashed(i);
  }

  #hashed(index: number): number {
    const from = index * HASH_BYTES;
    if (this.#isHashed[index] === 1) return from;
    if (this.#isHashed.length < this.length) {
      const room = Math.max(this.length, 2 * this.#isHashed.length);
      this.#isHashed = larger(this.#isHashed, new Uint8Array(room));
      this.#hashes = larger(this.#hashes, Buffer.allocUnsafeSlow(room * HASH_BYTES));
    }
    // A character is a byte; writing so few of them one by one is faster than a call that writes all.
    const digest = hash('sha256', this.texts.text(index), 'binary');
    for (let i = 0; i < HASH_BYTES; i++) this.#hashes[from + i] = digest.charCodeAt(i);
    this.#isHashed[index] = 1;
    return from;
  }

  /** For another thread, which gets a copy. */
  send(): SentRecords {
    const [externalIds, ...keys] = [this.#externalIds, ...this.#keys].map((column) => column.send());
    return {
      ...{ externalIds: externalIds!, keys, texts: this.texts.send() },
      ...{ tenants: this.#tenants, tenantOf: this.#tenantOf, deletions: this.#deletions },
      ...{ hashes: this.#hashes, isHashed: this.#isHashed },
    };
  }

  static received(sent: SentRecords): Records {
    const { externalIds, keys, texts, tenants, tenantOf, deletions, hashes, isHashed } = sent;
    const records = new Records(RecordTexts.received(texts), new TextColumn(externalIds));
    records.#keys = keys.map((column) => new TextColumn(column));
    records.#tenants = [...tenants];
    records.#tenantOf = tenantOf;
    records.#length = externalIds.length;
    records.#deletions = [...deletions];
    records.#hashes = Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength);
    records.#isHashed = isHashed;
    return records;
  }
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
    return this.#records.externalId(this.#index);
  }

  get sourceKey(): SourceKey {
    return this.#records.sourceKey(this.#index);
  }

  get deletion(): MappedRecord['deletion'] {
    return this.#records.deletion(this.#index);
  }

  get json(): string {
    return this.#records.texts.text(this.#index).toString('utf8');
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

  /** As {@link Records.send}, of a list that holds all of its records; `hashed`: with their content hashes. */
  send(hashed: boolean): SentRecords {
    if (hashed) this.#records.makeHashes();
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
    return this.#records.texts.size(this.#indexes[index]!);
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
    return this.#records.texts.joined(this.#indexes, opening, closing);
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
