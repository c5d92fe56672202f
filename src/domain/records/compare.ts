/** Compares a record of the platform with what was sent, for reconcile and for reading back. */
import type { JsonObject, JsonValue } from '../values/json.js';
import { referencedIds } from './references.js';

/** The first field that differs, or null if all agree; see {@link differingFields}. */
export const differingField = (
  sent: JsonObject,
  stored: JsonObject,
  referenceFields: ReadonlySet<string>,
): string | null => differingFields(sent, stored, referenceFields)[0] ?? null;

/**
 * The fields that differ, in the order of `sent`.
 *
 * A null that was sent has deleted the field (4.8), so it must be absent (or null). Fields that were not sent belong to
 * others and are not compared. References are compared by the ids that they name, in whichever form they come (4.10).
 */
export const differingFields = (sent: JsonObject, stored: JsonObject, referenceFields: ReadonlySet<string>): string[] =>
  Object.entries(sent)
    .filter(([field, value]) => {
      const there = stored[field];
      return value === null
        ? there !== undefined && there !== null
        : !sameValue(value, there, referenceFields.has(field));
    })
    .map(([field]) => field);

function sameValue(sent: JsonValue, stored: JsonValue | undefined, isReference: boolean): boolean {
  if (stored === undefined) return false;
  return isReference ? sameJson(referencedIds(sent), referencedIds(stored)) : sameJson(sent, stored);
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((v: JsonValue, i) => sameJson(v, b[i] as JsonValue))
    );
  const left = a as JsonObject;
  const right = b as JsonObject;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((k) => k in right && sameJson(left[k]!, right[k]!));
}
