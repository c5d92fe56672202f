/**
 * References inside a schema definition's JSON Schema.
 *
 * The platform says only that reference fields use `$ref` (platform-api.md section 2). Assumed here, and
 * listed in docs/assumptions.md: a property `{ "$ref": "<schema name>" }`, or an array of such items.
 */
import type { JsonObject, JsonValue } from '../values/json.js';

/** A field that refers to a record of another schema definition. */
export interface SchemaReference {
  /** Top-level property of the record. References inside nested objects are not recognised. */
  readonly field: string;
  /** Name of the schema definition it refers to. */
  readonly schemaName: string;
  readonly list: boolean;
}

const asObject = (v: JsonValue | undefined): JsonObject | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as JsonObject) : undefined;

/** The reference fields of a schema, in property order. A `$ref` that starts with `#` is local, not a reference. */
export function referencesOf(schema: JsonObject): SchemaReference[] {
  const found: SchemaReference[] = [];
  for (const [field, value] of Object.entries(asObject(schema['properties']) ?? {})) {
    const property = asObject(value);
    const own = property?.['$ref'];
    const item = asObject(property?.['items'])?.['$ref'];
    if (typeof own === 'string' && !own.startsWith('#')) found.push({ field, schemaName: own, list: false });
    else if (typeof item === 'string' && !item.startsWith('#')) found.push({ field, schemaName: item, list: true });
  }
  return found;
}

/** The form of a reference in a record (4.10): the parent's external id, or `{ type, id }`. */
export const REFERENCE_VALUE_SCHEMA: JsonObject = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      properties: { type: { type: 'string', minLength: 1 }, id: { type: 'string', minLength: 1 } },
      required: ['type', 'id'],
      additionalProperties: false,
    },
  ],
};

/** The schema with each reference replaced by {@link REFERENCE_VALUE_SCHEMA}, so that ajv can compile it. */
export function withReferenceValues(schema: JsonObject): JsonObject {
  const references = referencesOf(schema);
  if (references.length === 0) return schema;
  const properties: Record<string, JsonValue> = { ...asObject(schema['properties']) };
  for (const { field, list } of references) {
    // A list keeps its other rules, such as `minItems`.
    const ofList = { type: 'array', ...asObject(properties[field]), items: REFERENCE_VALUE_SCHEMA };
    properties[field] = list ? ofList : REFERENCE_VALUE_SCHEMA;
  }
  return { ...schema, properties };
}

/** External ids that a reference's value names; none for a value in another form. */
export function referencedIds(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((v: JsonValue) => referencedIds(v));
  if (typeof value === 'string') return [value];
  const id = asObject(value)?.['id'];
  return typeof id === 'string' ? [id] : [];
}
