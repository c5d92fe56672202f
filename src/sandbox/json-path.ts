/** The JSON paths by which a schema definition names its fields: `$.country`, `$.address.city`, `$['first name']`. */
import type { JsonObject, JsonValue } from '../domain/json.js';

const STEP = /\.([A-Za-z_$][\w$-]*)|\[(?:'([^'\\]*)'|"([^"\\]*)")\]|\[\*\]/y;

/** Names on the way from the record to the field; undefined for what is no path of this form. `[*]` adds no name. */
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

/** The path to a top-level field; undefined for a name that no path of this form can hold. */
export function jsonPathTo(name: string): string | undefined {
  const path = /^[A-Za-z_]\w*$/.test(name) ? `$.${name}` : name.includes("'") ? `$["${name}"]` : `$['${name}']`;
  return parseJsonPath(path) === undefined ? undefined : path;
}

const isObject = (v: JsonValue | undefined): v is JsonObject =>
  typeof v === 'object' && v !== null && !Array.isArray(v);

/**
 * The JSON Schema of the field that the names lead to, through lists too; undefined where the schema declares none.
 * The first name must be a property of the record. Below it, an object that lists no properties may have any.
 */
export function subschemaAt(schema: JsonObject, names: readonly string[]): JsonObject | undefined {
  let here: JsonObject = schema;
  for (const [i, name] of names.entries()) {
    const properties = here['properties'];
    if (!isObject(properties)) return i === 0 ? undefined : {};
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || property === false) return undefined;
    here = itemsOf(property === true ? {} : property);
  }
  return here;
}

/** Of a list, however deep, the schema of its entries. */
function itemsOf(schema: JsonValue): JsonObject {
  let here = schema;
  while (isObject(here) && isObject(here['items'])) here = here['items'];
  return isObject(here) ? here : {};
}
