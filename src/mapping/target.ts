/** What a schema definition asks of one field: its JSON types and its format. */
import type { JsonObject, JsonValue } from '../domain/json.js';

export interface Target {
  /** Without `null`; empty where the schema leaves the type open. */
  readonly types: readonly string[];
  readonly format: string | null;
}

/** Property names that would reach into an object's prototype; refused as target fields. */
export const FORBIDDEN_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

export function propertiesOf(schema: JsonObject): JsonObject {
  return asObject(schema['properties']) ?? {};
}

export function requiredOf(schema: JsonObject): readonly string[] {
  const required = schema['required'];
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

/** The target of a field. A local `$ref` is followed; a field that the schema does not know is open. */
export function targetOf(schema: JsonObject, field: string): Target {
  const properties = propertiesOf(schema);
  const property = Object.hasOwn(properties, field) ? followed(schema, asObject(properties[field])) : undefined;
  const declared = property?.['type'];
  const format = property?.['format'];
  const types = typeof declared === 'string' ? [declared] : Array.isArray(declared) ? declared : [];
  return {
    types: types.filter((type): type is string => typeof type === 'string' && type !== 'null'),
    format: typeof format === 'string' ? format : null,
  };
}

function followed(schema: JsonObject, property: JsonObject | undefined): JsonObject | undefined {
  let current = property;
  // A few steps are plenty; a circle of references ends here instead of nowhere.
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
