/** A record on its way into the store: read from a batch's payload, or released after waiting for a parent. */
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { StoredSchema } from '../schema-store.js';
import { unstorable } from '../storable.js';

export type ConflictRule = 'upsert' | 'reject';

export interface IncomingRecord {
  readonly batchId: string;
  /** Place in its batch, from 0. */
  readonly index: number;
  readonly externalId: string;
  /** The fields as they came; null deletes a field. */
  readonly sent: JsonObject;
  readonly onConflict: ConflictRule;
  /** Until when it may wait for missing parents; null: not at all. */
  readonly expiresAt: Date | null;
  /** Its id while it was held back; null when it comes straight from its batch. */
  readonly pendingId: string | null;
}

/** A parent that is not stored (yet). */
export interface Dependency {
  readonly schemaName: string;
  readonly externalId: string;
}

/** A record that will not be stored: the rule that it broke, and the reason in words. */
export interface Failure {
  readonly kind: 'failed';
  readonly rule: string;
  readonly reason: string;
}

export type Outcome =
  { readonly kind: 'stored' } | { readonly kind: 'waiting'; readonly missing: readonly Dependency[] } | Failure;

export const failed = (rule: string, reason: string): Failure => ({ kind: 'failed', rule, reason });

/** The index that finds a resource takes keys of about 2,700 bytes; four bytes a character fit with room to spare. */
export const MAX_EXTERNAL_ID_LENGTH = 512;

/** The external id of a record as text, or why it has none that can be used. */
export function externalIdOf(schema: StoredSchema, record: JsonObject): string | Failure {
  const field = schema.externalIdField;
  const value = record[field];
  if (value === undefined || value === null || value === '')
    return failed('external_id', `/${field} is missing or empty; it is the external id of "${schema.name}"`);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return failed('external_id', `/${field} must be a string or an exact integer`);
  if (value.length > MAX_EXTERNAL_ID_LENGTH)
    return failed('external_id', `/${field} must not be longer than ${MAX_EXTERNAL_ID_LENGTH} characters`);
  return value;
}

/** Checks what must hold before a record can even be looked up; answers its external id. */
export function readRecord(schema: StoredSchema, record: JsonObject): string | Failure {
  const problem = unstorable(record);
  return problem === undefined ? externalIdOf(schema, record) : failed('not_storable', problem);
}

/** The record without the fields that the schema does not declare. */
export function withoutUnknownFields(schema: StoredSchema, record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([field]) => schema.fields.has(field)));
}

/** What an upsert leaves: fields not sent are kept, null deletes a field, an object or list is replaced whole. */
export function mergeRecord(stored: JsonObject | undefined, sent: JsonObject): JsonObject {
  const merged: Record<string, JsonValue> = { ...stored };
  for (const [field, value] of Object.entries(sent))
    if (value === null) delete merged[field];
    else merged[field] = value;
  return merged;
}
