/** Whether the platform's record says the same as what was sent: the comparison of reconcile and of reading back. */
import type { JsonObject, JsonValue } from './json.js';
import { referencedIds } from './references.js';

/** The first field that differs, or null where all agree; as {@link differingFields}. */
export const differingField = (
  sent: JsonObject,
  stored: JsonObject,
  referenceFields: ReadonlySet<string>,
): string | null => differingFields(sent, stored, referenceFields)[0] ?? null;

/**
 * The fields that differ, in the order of `sent`.
 *
 * A null that was sent has deleted the field, so it must be absent (or null); fields that were not sent
 * belong to others. References are compared by the ids they name, in whichever form they come.
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

/** Whether two JSON values say the same; the order of keys says nothing. */
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
