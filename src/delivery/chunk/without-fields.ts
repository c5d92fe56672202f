/** What the first of two passes sends of a record. */
import type { MappedRecord } from '../../domain/records/record.js';
import { encodeJson } from '../../domain/values/json.js';
import { recordOf } from '../../records/record-list.js';

/** The record without these fields. A NULL field is kept, since it refers to nothing. */
export function withoutFields(record: MappedRecord, fields: ReadonlySet<string>): MappedRecord {
  const { tenant, externalId, sourceKey, data } = record;
  const kept = Object.entries(data).filter(([name, value]) => value === null || !fields.has(name));
  if (kept.length === Object.keys(data).length) return record;
  return recordOf(tenant, externalId, sourceKey, encodeJson(Object.fromEntries(kept)));
}
