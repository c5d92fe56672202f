/** Checks the JSON paths of a new schema definition (4.4): each must lead to a field that its schema declares. */
import type { JsonObject } from '../domain/values/json.js';
import type { BodyOf } from '../platform/contract/operation.js';
import type { Operations } from '../platform/contract/operations.js';
import { parseJsonPath, subschemaAt } from './json-path.js';

type Input = BodyOf<Operations['createSchemaDefinition']>;

/**
 * One message for each path in `fieldsToExpose` and `exposeNameJsonPath` that is malformed or leads to no declared
 * field; each begins with its place, `body/...`.
 */
export function pathProblems({ schema, fieldsToExpose = [], exposeNameJsonPath }: Input): string[] {
  const paths: (readonly [place: string, path: string | undefined])[] = [
    ...fieldsToExpose.map(({ jsonPath }, i) => [`body/fieldsToExpose/${i}/jsonPath`, jsonPath] as const),
    ['body/exposeNameJsonPath', exposeNameJsonPath],
  ];
  return paths.flatMap(([place, path]) => (path === undefined ? [] : problemOf(place, path, schema as JsonObject)));
}

/** The message for one path, or none; it names the fields that the schema has. */
function problemOf(place: string, path: string, schema: JsonObject): string[] {
  const names = parseJsonPath(path);
  if (names === undefined)
    return [`${place} ${JSON.stringify(path)} is not a path such as $.country or $.address.city`];
  if (subschemaAt(schema, names) !== undefined) return [];
  const properties = schema['properties'];
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [
    `${place} ${JSON.stringify(path)} is not the path of a field of the schema; it has: ${known.join(', ') || 'none'}`,
  ];
}
