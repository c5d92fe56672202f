/**
 * Mapped records in columns. A record lives until its batch is settled, together with thousands of others. As objects
 * they would all be copied twice by the garbage collector's young generation (ADR 0024), so their texts and hashes are
 * kept in buffers, which the collector does not scan, and an object is made only when a record is read.
 */
import { PartnerSyncError } from '../domain/errors.js';
import type { JsonObject } from '../domain/values/json.js';
import type { MappedRecord } from '../domain/records/record.js';
import type { ByteRow, SourceKey } from '../domain/source/source.js';
import { ContentHashes, type PostedHashes } from './content-hashes.js';
import { RecordTexts, type PostedRecordTexts } from './record-texts.js';
import { larger, TextColumn, type PostedTexts } from './text-column.js';

/**
 * The columns of {@link Records} as they are posted to another thread. They are copied, not transferred: once any buffer
 * of a thread has been transferred, V8 checks on every access to every other buffer whether it is still attached, which
 * costs more than copying (docs/performance.md).
 */
export interface PostedRecords {
  readonly externalIds: PostedTexts;
  /** One entry per key column. */
  readonly keys: readonly PostedTexts[];
  readonly texts: PostedRecordTexts;
  readonly tenants: readonly string[];
  /** For each record, the index of its tenant in `tenants`. */
  readonly tenantOf: Uint32Array;
  readonly deletions: readonly MappedRecord['deletion'][];
  readonly hashes: PostedHashes;
}

/** A part of a text: byte offsets, `to` exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Mapped records, one array or buffer per property. Records are only appended, and do not change until {@link clear}
 * discards all of them. All records of one instance come from one mapping: their keys have the same number of values.
 * Indexes count from 0 in the order of appending and are not checked.
 */
export class Records {
  /** The JSON texts. The text of a record is written here first; {@link append} then completes the record. */
  readonly texts: RecordTexts;
  readonly #externalIds: TextColumn;
  #keys: TextColumn[] = [];
  #tenants: string[] = [];
  /** For each record, the index of its tenant in `#tenants`. */
  #tenantOf: Uint32Array = new Uint32Array(1);
  #length = 0;
  /** Sparse: only the records of deleted rows have an entry. */
  #deletions: MappedRecord['deletion'][] = [];
  readonly hashes: ContentHashes;

  constructor(texts = new RecordTexts(), externalIds = new TextColumn(), hashes?: PostedHashes) {
    this.texts = texts;
    this.hashes = new ContentHashes(texts, (index) => this.deletion(index) === 'apply', hashes);
    this.#externalIds = externalIds;
  }

  get length(): number {
    return this.#length;
  }

  /** Discards all records and reuses their memory: no list or record of this instance may be read afterwards. */
  clear(): void {
    this.texts.clear();
    for (const column of [this.#externalIds, ...this.#keys]) column.clear();
    this.#tenants = [];
    this.#length = 0;
    this.#deletions = [];
    this.hashes.clear();
  }

  /** Appends a record from its values. `json` is the text that will be sent, well-formed Unicode like all other values. */
  add(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ): MappedRecord {
    this.texts.write(json);
    this.#externalIds.push(externalId);
    const keys = this.#keyColumns(sourceKey.length);
    for (let i = 0; i < keys.length; i++) keys[i]!.push(sourceKey[i]!);
    this.#added(tenant, deletion);
    return this.last;
  }

  /**
   * Completes the record whose text has just been written to {@link texts}, without decoding anything. `id` is its
   * external id, or the part of that text that is the external id; its key is copied from these columns of `row`, none
   * of which may be NULL.
   */
  append(
    tenant: string,
    id: ByteRange | string,
    row: ByteRow,
    keyColumns: readonly number[],
    deletion?: MappedRecord['deletion'],
  ): void {
    const { start, bytes } = this.texts;
    if (typeof id === 'string') this.#externalIds.push(id);
    else this.#externalIds.copy(bytes, start + id.from, start + id.to);
    const keys = this.#keyColumns(keyColumns.length);
    for (let i = 0; i < keys.length; i++) {
      const column = keyColumns[i]!;
      keys[i]!.copy(row.bytes, row.starts[column]!, row.ends[column]!);
    }
    this.#added(tenant, deletion);
  }

  /** The record that was appended last. */
  get last(): MappedRecord {
    return this.at(this.#length - 1);
  }

  #keyColumns(count: number): TextColumn[] {
    if (this.#keys.length !== count) {
      if (this.#length > 0) throw mixedKeys(this.#keys.length, count);
      this.#keys = Array.from({ length: count }, () => new TextColumn());
    }
    return this.#keys;
  }

  #added(tenant: string, deletion: MappedRecord['deletion']): void {
    this.texts.finish();
    const index = this.#length++;
    if (deletion !== undefined) this.#deletions[index] = deletion;
    if (index === this.#tenantOf.length) this.#tenantOf = larger(this.#tenantOf, new Uint32Array(2 * index));
    this.#tenantOf[index] = this.#tenantIndex(tenant);
  }

  #tenantIndex(tenant: string): number {
    const last = this.#tenants.length - 1;
    if (this.#tenants[last] === tenant) return last;
    // Where tenants alternate, a tenant is stored once per change: cheaper than searching for its earlier entry.
    return this.#tenants.push(tenant) - 1;
  }

  tenant(index: number): string {
    return this.#tenants[this.#tenantOf[index]!]!;
  }

  /** The external id of one record, decoded anew on each call unless {@link externalIds} has been read. */
  externalId(index: number): string {
    return this.#externalIds.at(index);
  }

  /** The external ids of all records, decoded together and kept. */
  get externalIds(): readonly string[] {
    return this.#externalIds.texts;
  }

  /** The values of the key columns, in the mapping's order. */
  sourceKey(index: number): SourceKey {
    return this.#keys.map((column) => column.at(index));
  }

  /** `undefined` for the record of a row that is not deleted. */
  deletion(index: number): MappedRecord['deletion'] {
    return this.#deletions[index];
  }

  /** The record at this index. */
  at(index: number): MappedRecord {
    return new RecordAt(this, index);
  }

  /** The columns themselves, in the form in which they can be posted to another thread; posting copies them. */
  post(): PostedRecords {
    const [externalIds, ...keys] = [this.#externalIds, ...this.#keys].map((column) => column.post());
    return {
      externalIds: externalIds!,
      keys,
      texts: this.texts.post(),
      tenants: this.#tenants,
      tenantOf: this.#tenantOf,
      deletions: this.#deletions,
      hashes: this.hashes.post(),
    };
  }

  /** Takes over columns that {@link post} gave in another thread. */
  static received(posted: PostedRecords): Records {
    const { externalIds, keys, texts, tenants, tenantOf, deletions, hashes } = posted;
    const records = new Records(RecordTexts.received(texts), new TextColumn(externalIds), hashes);
    records.#keys = keys.map((column) => new TextColumn(column));
    records.#tenants = [...tenants];
    records.#tenantOf = tenantOf;
    records.#length = externalIds.length;
    records.#deletions = [...deletions];
    return records;
  }
}

/**
 * A view of one record: an index and the columns that it reads from. Its properties are accessors, so spreading it or
 * comparing it structurally sees an empty object; `aloneOf` makes a copy.
 */
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
    return this.#records.hashes.digits(this.#index);
  }
}

/** Made apart from the function that throws it, which runs for each row and is inlined only while it is short. */
const mixedKeys = (some: number, others: number): PartnerSyncError =>
  new PartnerSyncError('unexpected', `keys of ${some} and of ${others} values in one list of records`);
