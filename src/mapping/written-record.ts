/**
 * Records as the mapping hands them on: texts, with hash and object made when somebody asks for them.
 *
 * A record lives until its batch is settled, thousands of others with it. What they are made of is therefore kept
 * column by column, the texts outside of the garbage collector's sight; a record is an object of two fields. As an object
 * of its own parts each, they cost more than a third of a worker's time: all are copied twice before they are old.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from '../domain/json.js';
import type { MappedRecord } from '../domain/record.js';
import { bytesOf } from '../domain/record-text.js';
import type { SourceKey } from '../domain/source.js';

/** Bytes of texts together: some hundreds of records, so that few are kept for the sake of one that waits. */
const TEXT_BYTES = 128 * 1024;
/** Bytes that a UTF-16 code unit takes in UTF-8, at most. */
const WIDEST = 3;
const COMMA = 0x2c;

/** Neighbouring records, column by column. */
class Columns {
  readonly tenants: string[] = [];
  readonly externalIds: string[] = [];
  /** The values of all source keys, one behind the other. */
  readonly keyValues: string[] = [];
  /** How many values a key has. */
  readonly keyWidth: number;
  readonly buffer: Buffer;
  readonly ends: number[] = [];
  /** Of those that are made, by index. */
  readonly hashes: string[] = [];
  readonly deletions: MappedRecord['deletion'][] = [];

  constructor(bytes: number, keyWidth: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
    this.keyWidth = keyWidth;
  }

  /** Where the next text begins. */
  get free(): number {
    return this.ends.length === 0 ? 0 : this.ends.at(-1)! + 1;
  }
}

/** Writes records one behind the other. */
export class RecordWriter {
  #columns = new Columns(0, 0);

  write(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ): MappedRecord {
    const most = json.length * WIDEST + 1;
    if (this.#columns.buffer.length - this.#columns.free < most || this.#columns.keyWidth !== sourceKey.length)
      this.#columns = new Columns(Math.max(TEXT_BYTES, most), sourceKey.length);
    return new WrittenRecord(this.#columns, add(this.#columns, tenant, externalId, sourceKey, json, deletion));
  }
}

/** A record that stands alone. */
export function writtenRecord(
  tenant: string,
  externalId: string,
  sourceKey: SourceKey,
  json: string,
  deletion?: MappedRecord['deletion'],
): MappedRecord {
  const columns = new Columns(json.length * WIDEST + 1, sourceKey.length);
  return new WrittenRecord(columns, add(columns, tenant, externalId, sourceKey, json, deletion));
}

function add(
  columns: Columns,
  tenant: string,
  externalId: string,
  sourceKey: SourceKey,
  json: string,
  deletion: MappedRecord['deletion'],
): number {
  const { buffer, free } = columns;
  const end = free + buffer.write(json, free, 'utf8');
  buffer[end] = COMMA;
  if (deletion !== undefined) columns.deletions[columns.ends.length] = deletion;
  columns.tenants.push(tenant);
  columns.externalIds.push(externalId);
  for (const value of sourceKey) columns.keyValues.push(value);
  return columns.ends.push(end) - 1;
}

class WrittenRecord implements MappedRecord {
  readonly #columns: Columns;
  readonly #index: number;

  constructor(columns: Columns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get kind(): 'record' {
    return 'record';
  }

  get tenant(): string {
    return this.#columns.tenants[this.#index]!;
  }

  get externalId(): string {
    return this.#columns.externalIds[this.#index]!;
  }

  get sourceKey(): SourceKey {
    const { keyValues, keyWidth } = this.#columns;
    return keyValues.slice(this.#index * keyWidth, (this.#index + 1) * keyWidth);
  }

  get buffer(): Buffer {
    return this.#columns.buffer;
  }

  get start(): number {
    return this.#index === 0 ? 0 : this.#columns.ends[this.#index - 1]! + 1;
  }

  get end(): number {
    return this.#columns.ends[this.#index]!;
  }

  get deletion(): MappedRecord['deletion'] {
    return this.#columns.deletions[this.#index];
  }

  get json(): string {
    return bytesOf(this).toString('utf8');
  }

  get data(): JsonObject {
    return JSON.parse(this.json) as JsonObject;
  }

  get contentHash(): string {
    return (this.#columns.hashes[this.#index] ??= hash('sha256', bytesOf(this), 'hex').slice(0, 32));
  }
}
