/** A record as the mapping hands it on: its text. Hash and object are made when somebody asks for them. */
import { hash } from 'node:crypto';
import type { JsonObject } from '../domain/json.js';
import type { MappedRecord } from '../domain/record.js';
import type { SourceKey } from '../domain/source.js';

export class WrittenRecord implements MappedRecord {
  readonly kind = 'record';
  readonly tenant: string;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly json: string;
  readonly deletion: MappedRecord['deletion'];
  #hash: string | undefined;

  constructor(
    tenant: string,
    externalId: string,
    sourceKey: SourceKey,
    json: string,
    deletion?: MappedRecord['deletion'],
  ) {
    this.tenant = tenant;
    this.externalId = externalId;
    this.sourceKey = sourceKey;
    this.json = json;
    this.deletion = deletion;
  }

  get data(): JsonObject {
    return JSON.parse(this.json) as JsonObject;
  }

  get contentHash(): string {
    return (this.#hash ??= hash('sha256', this.json, 'hex').slice(0, 32));
  }
}
