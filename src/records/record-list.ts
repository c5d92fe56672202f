/** Lists of mapped records, as the rest of the product works with them: selections that share the columns of `records.ts`. */
import type { MappedRecord } from '../domain/records/record.js';
import type { SourceKey } from '../domain/source/source.js';
import { HASH_BYTES } from './content-hashes.js';
import { Records, type PostedRecords } from './records.js';

export { HASH_BYTES } from './content-hashes.js';
export { Records, type PostedRecords, type ByteRange } from './records.js';

/**
 * A selection of {@link Records} in an order of its own: the shared columns and the indexes of the selected records.
 * Selecting copies indexes, never records. An index given to a method is a position in this list.
 */
export class RecordList implements Iterable<MappedRecord> {
  readonly #records: Records;
  readonly #indexes: Uint32Array;

  /** Without `indexes`: all records that there are now, in the order in which they were appended. */
  constructor(records: Records, indexes?: Uint32Array) {
    this.#records = records;
    this.#indexes = indexes ?? upTo(records.length);
  }

  /** {@link Records.post} for a list of all of its records; with `hashed`, their content hashes are computed first. */
  post(hashed: boolean): PostedRecords {
    if (hashed) this.#records.hashes.computeAll();
    return this.#records.post();
  }

  /** The list of all records that {@link post} gave in another thread. */
  static received(posted: PostedRecords): RecordList {
    return new RecordList(Records.received(posted));
  }

  /** A list of copies, which keeps none of the lists alive that the records come from. */
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
    return this.#records.at(this.#indexes[index]!);
  }

  *[Symbol.iterator](): Generator<MappedRecord> {
    for (const index of this.#indexes) yield this.#records.at(index);
  }

  map<T>(make: (record: MappedRecord, index: number) => T): T[] {
    return Array.from(this.#indexes, (at, index) => make(this.#records.at(at), index));
  }

  filter(isWanted: (record: MappedRecord) => boolean): RecordList {
    return this.pick((index) => isWanted(this.at(index)));
  }

  /** As {@link filter}, by position, so that no record object is made. */
  pick(isWanted: (index: number) => boolean): RecordList {
    const wanted = new Uint32Array(this.length);
    let count = 0;
    for (let i = 0; i < this.length; i++) if (isWanted(i)) wanted[count++] = this.#indexes[i]!;
    return new RecordList(this.#records, wanted.slice(0, count));
  }

  /** The records at these positions, in their order. */
  only(indexes: readonly number[]): RecordList {
    const wanted = new Uint32Array(indexes.length);
    for (let i = 0; i < indexes.length; i++) wanted[i] = this.#indexes[indexes[i]!]!;
    return new RecordList(this.#records, wanted);
  }

  /** As `Array.slice`. */
  slice(from: number, to?: number): RecordList {
    return new RecordList(this.#records, this.#indexes.slice(from, to));
  }

  /** The distinct tenants of the records. */
  get tenants(): ReadonlySet<string> {
    const tenants = new Set<string>();
    for (let i = 0; i < this.length; i++)
      if (i === 0 || this.tenantAt(i) !== this.tenantAt(i - 1)) tenants.add(this.tenantAt(i));
    return tenants;
  }

  tenantAt(index: number): string {
    return this.#records.tenant(this.#indexes[index]!);
  }

  deletionAt(index: number): MappedRecord['deletion'] {
    return this.#records.deletion(this.#indexes[index]!);
  }

  /** Length of the record's JSON text in bytes of UTF-8. */
  sizeAt(index: number): number {
    return this.#records.texts.size(this.#indexes[index]!);
  }

  /** The external ids in the order of the list. */
  get externalIds(): string[] {
    const { externalIds } = this.#records;
    const ids = new Array<string>(this.length);
    for (let i = 0; i < ids.length; i++) ids[i] = externalIds[this.#indexes[i]!]!;
    return ids;
  }

  /** The content hashes in the order of the list, {@link HASH_BYTES} each, one after the other. */
  get hashes(): Buffer {
    return this.#records.hashes.of(this.#indexes);
  }

  /** The content hashes as 32 hex digits each. */
  get contentHashes(): string[] {
    const digits = this.hashes.toString('hex');
    const hashes = new Array<string>(this.length);
    for (let i = 0; i < hashes.length; i++) hashes[i] = digits.substring(2 * HASH_BYTES * i, 2 * HASH_BYTES * (i + 1));
    return hashes;
  }

  /**
   * The request body of a batch upload (platform-api.md 4.8): the JSON texts of the records, separated by commas, between
   * `opening` and `closing`.
   */
  joined(opening: string, closing: string): Buffer {
    return this.#records.texts.joined(this.#indexes, opening, closing);
  }
}

/** The numbers from 0 up to, but without, `length`. */
function upTo(length: number): Uint32Array {
  const numbers = new Uint32Array(length);
  for (let i = 0; i < length; i++) numbers[i] = i;
  return numbers;
}

/** A record that shares its columns with no other. */
export const recordOf = (
  tenant: string,
  externalId: string,
  sourceKey: SourceKey,
  json: string,
  deletion?: MappedRecord['deletion'],
): MappedRecord => new Records().add(tenant, externalId, sourceKey, json, deletion);

/** A copy of one record: keeping it does not keep the columns of the list that it comes from in memory. */
export const aloneOf = ({ tenant, externalId, sourceKey, json, deletion }: MappedRecord): MappedRecord =>
  recordOf(tenant, externalId, sourceKey, json, deletion);
