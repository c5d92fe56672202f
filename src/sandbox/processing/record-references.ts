/** Reads the references of a record: which parents it names, and the one form in which references are stored. */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import { referencedIds } from '../../domain/records/references.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { failed, type Dependency, type Failure } from './incoming.js';

/**
 * The parents that a record names, without duplicates, or a failure if a reference has another type, an unaccepted
 * form or an impossible id.
 */
export function dependenciesOf(
  schema: StoredSchema,
  record: JsonObject,
  { records, longest }: Pick<SandboxSettings, 'records' | 'longest'>,
): readonly Dependency[] | Failure {
  const found = new Map<string, Dependency>();
  for (const { field, schemaName } of schema.references) {
    const value = record[field];
    const wrongType = typesNamed(value).find((type) => type !== schemaName);
    if (wrongType !== undefined)
      return failed('reference_type', `/${field} refers to a "${wrongType}", the schema says "${schemaName}"`);
    const form = formsOf(value).find((used) => !records.references.includes(used));
    if (form !== undefined)
      return failed('reference_form', `/${field} must be ${FORMS[form === 'id' ? 'object' : 'id']}`);
    for (const externalId of referencedIds(value)) {
      if (externalId.length > longest.externalId)
        return failed('reference', `/${field} is longer than an external id can be`);
      const dependency = { schemaName, externalId };
      found.set(dependencyKey(dependency), dependency);
    }
  }
  return [...found.values()];
}

/** A dependency as a map key; unambiguous, since schema names contain no space. */
export const dependencyKey = ({ schemaName, externalId }: Dependency): string => `${schemaName} ${externalId}`;

/**
 * A copy of the record in which each reference is a plain external id or a list of them, so that responses can show
 * either form (4.10).
 */
export function withPlainReferences(schema: StoredSchema, record: JsonObject): JsonObject {
  if (schema.references.length === 0) return record;
  const plain: Record<string, JsonValue> = { ...record };
  for (const { field, list } of schema.references) {
    const value = plain[field];
    if (value === undefined) continue;
    const ids = referencedIds(value);
    plain[field] = list ? ids : (ids[0] ?? value);
  }
  return plain;
}

type Form = SandboxSettings['records']['references'][number];
const FORMS: Record<Form, string> = { id: 'an external id', object: 'an object { type, id }' };

/** The forms that a reference value uses: plain id, object, or both in a list. */
function formsOf(value: JsonValue | undefined): Form[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => formsOf(item));
  if (typeof value === 'string') return ['id'];
  return typeof value === 'object' && value !== null ? ['object'] : [];
}

/** The types that the objects in a reference value name, if any. */
function typesNamed(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => typesNamed(item));
  if (typeof value !== 'object' || value === null) return [];
  const type = (value as JsonObject)['type'];
  return typeof type === 'string' ? [type] : [];
}
