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

/** The JSON Schema of the field that the names lead to, through lists too; undefined where the schema declares none. */
export function subschemaAt(schema: JsonObject, names: readonly string[]): JsonObject | undefined {
  let here: JsonValue | undefined = schema;
  for (const name of names) {
    while (isObject(here) && isObject(here['items'])) here = here['items'];
    const properties: JsonValue | undefined = isObject(here) ? here['properties'] : undefined;
    here = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  while (isObject(here) && isObject(here['items'])) here = here['items'];
  return here === true ? {} : isObject(here) ? here : undefined;
}
