/** The JSON paths of a schema definition: each must lead to a field that its schema declares (4.4). */
import type { JsonObject } from '../domain/json.js';
import type { BodyOf } from '../platform/contract/operation.js';
import type { Operations } from '../platform/contract/operations.js';
import { parseJsonPath, subschemaAt } from './json-path.js';

type Input = BodyOf<Operations['createSchemaDefinition']>;

/** One text for each path that is none, or leads nowhere. */
export function pathProblems({ schema, fieldsToExpose = [], exposeNameJsonPath }: Input): string[] {
  const paths: (readonly [place: string, path: string | undefined])[] = [
    ...fieldsToExpose.map(({ jsonPath }, i) => [`body/fieldsToExpose/${i}/jsonPath`, jsonPath] as const),
    ['body/exposeNameJsonPath', exposeNameJsonPath],
  ];
  return paths.flatMap(([place, path]) => (path === undefined ? [] : problemOf(place, path, schema as JsonObject)));
}

function problemOf(place: string, path: string, schema: JsonObject): string[] {
  const names = parseJsonPath(path);
  if (names === undefined) return [`${place} ${JSON.stringify(path)} is no path such as $.country or $.address.city`];
  if (subschemaAt(schema, names) !== undefined) return [];
  const properties = schema['properties'];
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [`${place} ${JSON.stringify(path)} leads to no field of the schema; it has: ${known.join(', ') || 'none'}`];
}
