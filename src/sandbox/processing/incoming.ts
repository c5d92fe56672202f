/**
 * A record on its way into the store, read from an upload or released after waiting for a parent, and the outcomes it
 * can have.
 */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { unstorable } from '../storable.js';

/** The query parameter `onconflict` of 4.8. */
export type ConflictRule = 'upsert' | 'reject';

/** A record to be applied, with what its upload asked for. */
export interface IncomingRecord {
  readonly batchId: string;
  /** Position in its upload, from 0. */
  readonly index: number;
  readonly externalId: string;
  /** The fields as sent; null deletes a field (4.8). */
  readonly sent: JsonObject;
  readonly onConflict: ConflictRule;
  /** Until when it may wait for missing parents; null means that it may not wait. */
  readonly expiresAt: Date | null;
  /** Its id while it was pending; null when it comes directly from an upload. */
  readonly pendingId: string | null;
  /** Set when its wait has elapsed and it is to be stored without its parents (setting `pending.expired`). */
  readonly waitIsOver?: true;
}

type Rules = Pick<SandboxSettings, 'records' | 'longest'>;

/** A record that another one refers to, by schema name because its schema definition need not exist yet. */
export interface Dependency {
  readonly schemaName: string;
  readonly externalId: string;
}

/** The rules of failures that concern missing parents. */
export type ParentRule = 'missing_dependency' | 'dependency_expired';

/** A record that is not stored: the rule that it breaks and the reason in words. */
export interface Failure {
  readonly kind: 'failed';
  readonly rule: string;
  readonly reason: string;
  /** The missing parents in words, for the templates of `failureMessages`. */
  readonly parents?: string;
}

/** What happened to a record: stored, waiting for parents, or failed (section 3). */
export type Outcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'waiting'; readonly missing: readonly Dependency[] }
  | Failure;

/** A failure that does not concern parents. */
export const failed = (rule: string, reason: string): Failure => ({ kind: 'failed', rule, reason });

/** A failure for missing parents; `parents` names them in words. */
export const failedFor = (parents: string, rule: ParentRule, reason: string): Failure => ({
  ...failed(rule, reason),
  parents,
});

/**
 * The record's external id as text, or why it has no usable one. An integer id becomes its digits if `integerIds`
 * allows it.
 */
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

/** The record's external id, or why the record cannot be stored or looked up by it. */
export function usableExternalId(schema: StoredSchema, record: JsonObject, rules: Rules): string | Failure {
  const problem = unstorable(record);
  return problem === undefined ? externalIdOf(schema, record, rules) : failed('not_storable', problem);
}

/** Names of the record's fields that the schema does not declare (`ignoreUnknownFields`, 4.8). */
export const unknownFieldsOf = (schema: StoredSchema, record: object): string[] =>
  Object.keys(record).filter((field) => !schema.fields.has(field));

/** A copy of the record with declared fields only. */
export function withoutUnknownFields(schema: StoredSchema, record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([field]) => schema.fields.has(field)));
}

/**
 * The record after an upsert (4.8): fields not sent are kept and null deletes a field. With `how` = `fields` a nested
 * object is replaced as a whole; with `deep` it is merged by the same rules.
 */
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
