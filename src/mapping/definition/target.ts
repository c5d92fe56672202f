/** Reads from the JSON Schema of a schema definition what it asks of single fields. */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';

/** The types and the format that a field must have. */
export interface Target {
  /** JSON types without `null`; empty if the schema names none, which allows all. */
  readonly types: readonly string[];
  /** null if the schema names none. */
  readonly format: string | null;
}

/** Field names that are rejected: as keys of an object they could reach its prototype. */
export const FORBIDDEN_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** The value if it is an object and not a list; otherwise undefined. */
export const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The `properties` of a schema; empty if it has none. Look names up with `Object.hasOwn`. */
export function propertiesOf(schema: JsonObject): JsonObject {
  return asObject(schema['properties']) ?? {};
}

/** The names under `required` at the top of a schema. */
export function requiredOf(schema: JsonObject): readonly string[] {
  const required = schema['required'];
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

/**
 * What the schema asks of a field. A local `$ref` is followed. A field that the schema does not declare may have any
 * type.
 */
export function targetOf(schema: JsonObject, field: string): Target {
  const properties = propertiesOf(schema);
  const property = Object.hasOwn(properties, field) ? resolved(schema, asObject(properties[field])) : undefined;
  const declared = property?.['type'];
  const format = property?.['format'];
  const types = typeof declared === 'string' ? [declared] : Array.isArray(declared) ? declared : [];
  return {
    types: types.filter((type): type is string => typeof type === 'string' && type !== 'null'),
    format: typeof format === 'string' ? format : null,
  };
}

/** Follows local `$ref`s; undefined if one leads nowhere or in a cycle. */
function resolved(schema: JsonObject, property: JsonObject | undefined): JsonObject | undefined {
  let current = property;
  // Real schemas need one or two steps; the limit ends a cycle of references.
  for (let i = 0; i < 8; i++) {
    const reference = current?.['$ref'];
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return current;
    const steps = reference.slice(2).split('/');
    current = asObject(
      steps.reduce<JsonValue | undefined>((at, step) => {
        const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
        const object = asObject(at);
        return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
      }, schema),
    );
  }
  return undefined;
}
