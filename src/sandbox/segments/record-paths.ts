/** The shortest way, along references, from a person's record to the records of each other schema definition. */
import { referencesOf } from '../../domain/references.js';
import type { JsonObject } from '../../domain/json.js';
import type { Step } from './condition.js';

/** What is needed of a schema definition. */
export interface Definition {
  readonly name: string;
  readonly pluralName?: string;
  readonly category: string;
  readonly schema: JsonObject;
  readonly fieldsToExpose?: readonly {
    readonly name: string;
    readonly jsonPath: string;
    readonly exposure: readonly string[];
  }[];
}

/** Orders of a customer are one step away, the lines of those orders two; further is seldom meant. */
const LONGEST_PATH = 3;

/** By schema name, nearest first. Where two references lead to the same place, the first one in the schema is taken. */
export function recordPaths(from: string, definitions: readonly Definition[]): Map<string, readonly Step[]> {
  const references = definitions.flatMap(({ name, schema }) =>
    referencesOf(schema).map(({ field, schemaName }) => ({ child: name, field, parent: schemaName })),
  );
  const known = new Set(definitions.map(({ name }) => name));
  const paths = new Map<string, readonly Step[]>();
  let ends: [string, readonly Step[]][] = [[from, []]];
  for (let length = 1; length <= LONGEST_PATH; length++) {
    const next: [string, readonly Step[]][] = [];
    for (const [end, path] of ends)
      for (const { child, field, parent } of references) {
        const step: Step | undefined =
          parent === end
            ? { schema: child, field, to: 'children' }
            : child === end
              ? { schema: parent, field, to: 'parent' }
              : undefined;
        if (step === undefined || step.schema === from || paths.has(step.schema) || !known.has(step.schema)) continue;
        paths.set(step.schema, [...path, step]);
        next.push([step.schema, paths.get(step.schema)!]);
      }
    ends = next;
  }
  return paths;
}
