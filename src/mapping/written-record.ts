/** A record as the mapping hands it on: its text. Hash and object are made when somebody asks for them. */
import { hash } from 'node:crypto';
import type { JsonObject } from '../domain/json.js';
import type { MappedRecord } from '../domain/record.js';
import { bytesOf, type RecordText } from '../domain/record-text.js';
import type { SourceKey } from '../domain/source.js';

export class WrittenRecord implements MappedRecord {
  readonly kind = 'record';
  readonly tenant: string;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  readonly deletion: MappedRecord['deletion'];
  #hash: string | undefined;

  constructor(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    { buffer, start, end }: RecordText,
    deletion?: MappedRecord['deletion'],
  ) {
    this.tenant = tenant;
    this.externalId = externalId;
    this.sourceKey = sourceKey;
    this.buffer = buffer;
    this.start = start;
    this.end = end;
    this.deletion = deletion;
  }

  get json(): string {
    return bytesOf(this).toString('utf8');
  }

  get data(): JsonObject {
    return JSON.parse(this.json) as JsonObject;
  }

  get contentHash(): string {
    return (this.#hash ??= hash('sha256', bytesOf(this), 'hex').slice(0, 32));
  }
}
