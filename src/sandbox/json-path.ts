/**
 * The subset of JSONPath with which a schema definition names its fields: `$.country`, `$.address.city`, `$['first
 * name']`.
 */
import type { JsonObject, JsonValue } from '../domain/values/json.js';

const STEP = /\.([A-Za-z_$][\w$-]*)|\[(?:'([^'\\]*)'|"([^"\\]*)")\]|\[\*\]/y;

/**
 * The property names from the record down to the field, or undefined if the text is not a path of this form. `[*]`
 * contributes no name.
 */
export function parseJsonPath(path: string): readonly string[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const names: string[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) return undefined;
    const name = found[1] ?? found[2] ?? found[3];
    if (name !== undefined) names.push(name);
    at = STEP.lastIndex;
  }
  return names.length === 0 ? undefined : names;
}

/** The path to a top-level field, or undefined for a name that this form cannot express. */
export function jsonPathTo(name: string): string | undefined {
  const path = /^[A-Za-z_]\w*$/.test(name) ? `$.${name}` : name.includes("'") ? `$["${name}"]` : `$['${name}']`;
  return parseJsonPath(path) === undefined ? undefined : path;
}

const isObject = (v: JsonValue | undefined): v is JsonObject =>
  typeof v === 'object' && v !== null && !Array.isArray(v);

/**
 * The JSON Schema of the field that `names` leads to, looking through lists; undefined if the schema declares no
 * such field.
 *
 * The first name must be a declared property of the record. Below it, an object that declares no properties may have
 * any.
 */
export function subschemaAt(schema: JsonObject, names: readonly string[]): JsonObject | undefined {
  let current: JsonObject = schema;
  for (const [i, name] of names.entries()) {
    const properties = current['properties'];
    if (!isObject(properties)) return i === 0 ? undefined : {};
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || property === false) return undefined;
    current = itemsOf(property === true ? {} : property);
  }
  return current;
}

/** The schema of a list's entries, however deeply nested; any other schema is returned as it is. */
function itemsOf(schema: JsonValue): JsonObject {
  let current = schema;
  while (isObject(current) && isObject(current['items'])) current = current['items'];
  return isObject(current) ? current : {};
}
