/** A record on its way into the store: read from a batch's payload, or released after waiting for a parent. */
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
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
  /** It is stored even though parents are missing (the setting `pending.expired`). */
  readonly waitIsOver?: true;
}

type Rules = Pick<SandboxSettings, 'records' | 'longest'>;

/** A parent that is not stored (yet). */
export interface Dependency {
  readonly schemaName: string;
  readonly externalId: string;
}

export type ParentRule = 'missing_dependency' | 'dependency_expired';

/** A record that will not be stored: the rule that it broke, and the reason in words. */
export interface Failure {
  readonly kind: 'failed';
  readonly rule: string;
  readonly reason: string;
  /** The parents for want of which it failed, in words. */
  readonly parents?: string;
}

export type Outcome =
  { readonly kind: 'stored' } | { readonly kind: 'waiting'; readonly missing: readonly Dependency[] } | Failure;

export const failed = (rule: string, reason: string): Failure => ({ kind: 'failed', rule, reason });

/** For want of parents; `parents` names them. */
export const failedFor = (parents: string, rule: ParentRule, reason: string): Failure => ({
  ...failed(rule, reason),
  parents,
});

/** The external id of a record as text, or why it has none that can be used. */
export function externalIdOf(schema: StoredSchema, record: JsonObject, { records, longest }: Rules): string | Failure {
  const field = schema.externalIdField;
  const value = record[field];
  if (value === undefined || value === null || value === '')
    return failed('external_id', `/${field} is missing or empty; it is the external id of "${schema.name}"`);
  if (typeof value === 'number' && Number.isSafeInteger(value) && records.integerIds) return String(value);
  if (typeof value !== 'string')
    return failed('external_id', `/${field} must be a string${records.integerIds ? ' or an exact integer' : ''}`);
  if (value.length > longest.externalId)
    return failed('external_id', `/${field} must not be longer than ${longest.externalId} characters`);
  return value;
}

/** Checks what must hold before a record can even be looked up; answers its external id. */
export function readRecord(schema: StoredSchema, record: JsonObject, rules: Rules): string | Failure {
  const problem = unstorable(record);
  return problem === undefined ? externalIdOf(schema, record, rules) : failed('not_storable', problem);
}

/** Fields that the schema does not declare. */
export const unknownFieldsOf = (schema: StoredSchema, record: object): string[] =>
  Object.keys(record).filter((field) => !schema.fields.has(field));

/** The record without the fields that the schema does not declare. */
export function withoutUnknownFields(schema: StoredSchema, record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([field]) => schema.fields.has(field)));
}

/** What an upsert leaves: fields not sent are kept, null deletes a field; an object is replaced whole, or merged too. */
export function mergeRecord(
  stored: JsonObject | undefined,
  sent: JsonObject,
  how: SandboxSettings['records']['merge'],
): JsonObject {
  const merged: Record<string, JsonValue> = { ...stored };
  for (const [field, value] of Object.entries(sent))
    if (value === null) delete merged[field];
    else if (how === 'deep' && isObject(value))
      merged[field] = mergeRecord(isObject(merged[field]) ? merged[field] : undefined, value, how);
    else merged[field] = value;
  return merged;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
