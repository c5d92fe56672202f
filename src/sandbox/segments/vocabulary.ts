/** What a tenant's texts can mention: people, their fields and the records around them, from the schema definitions. */
import type { JsonObject } from '../../domain/values/json.js';
import { referencesOf } from '../../domain/records/references.js';
import type { SchemaDefinition } from '../../platform/contract/schema-definitions.js';
import { jsonPathTo, parseJsonPath, subschemaAt } from '../json-path.js';
import type { Step } from './condition.js';
import type { FieldKind } from './operators.js';

/** The part of a schema definition that segments use. */
export type Definition = Pick<SchemaDefinition, 'name' | 'pluralName' | 'category' | 'schema' | 'fieldsToExpose'>;

/** A field that texts can name, as it stands in a sentence: `marketing opt-in`. */
export type Field = Readonly<Record<'name' | 'schema' | 'jsonPath', string>> & { readonly kind: FieldKind };

/** The records of one schema definition, with their noun, as seen from a person. */
export interface RecordKind {
  readonly schema: string;
  readonly category: string;
  readonly one: string;
  readonly many: string;
  readonly fields: readonly Field[];
  /** Empty for the person's own record. */
  readonly path: readonly Step[];
}

/** Everything that a tenant's texts can mention. */
export interface Vocabulary {
  /** With the tenant's word for them. */
  readonly people: RecordKind;
  readonly nouns: readonly string[];
  /** Shortest path first. */
  readonly records: readonly RecordKind[];
}

/** Steps. A customer's orders are one step away, the lines of those orders two; longer paths are seldom meant. */
const LONGEST_PATH = 3;

/** The vocabulary around the people of `definition`; `word` is the tenant's word for them. */
export function vocabularyOf(definition: Definition, all: readonly Definition[], word: string): Vocabulary {
  const nouns = nounsOf({ name: word || 'user' });
  const definitions = new Map(all.map((one) => [one.name, one]));
  return {
    people: kindOf(definition, [], nouns),
    nouns: [...nouns, ...nounsOf(definition), 'people'],
    records: [...pathsFrom(definition.name, all)].map(([name, path]) => kindOf(definitions.get(name)!, path)),
  };
}

function kindOf(definition: Definition, path: readonly Step[], [one, many] = nounsOf(definition)): RecordKind {
  return { schema: definition.name, category: definition.category, one, many, fields: fieldsOf(definition), path };
}

/** The noun for records in the singular and in the plural, which is taken to end with s unless it is given. */
export function nounsOf({ name, pluralName }: Pick<Definition, 'name' | 'pluralName'>): [string, string] {
  const one = wordsOf(name).replace(/(?<![sui])s$/, '');
  return [one, wordsOf(pluralName && pluralName !== name ? pluralName : `${one}s`)];
}

/** `marketingOptIn`, `marketing_opt_in` and `Marketing opt-in` -> `marketing opt in`. */
export function wordsOf(name: string): string {
  const spaced = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return spaced.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** The fields that say where somebody is. */
export const placesIn = ({ people }: Vocabulary): Field[] =>
  people.fields.filter(({ kind, name }) => kind === 'text' && /\b(country|city|town|state|region)\b/i.test(name));

/** The field whose sum is what people spent: the first amount of the first transactions that have one. */
export const spendingIn = ({ records }: Vocabulary): { kind: RecordKind; field: Field } | undefined =>
  records
    .filter(({ category }) => category === 'transactions_schema')
    .flatMap((kind) => kind.fields.map((field) => ({ kind, field })))
    .find(({ field }) => field.kind === 'number' && /\b(total|amount|price|value|revenue|cost)\b/i.test(field.name));

/** The field that dates records: the first date of theirs, or of the records on the path back to the person. */
export const dateOf = ({ records }: Vocabulary, { path }: RecordKind): Field | undefined =>
  path
    .toReversed()
    .flatMap((step) => records.find(({ schema }) => schema === step.schema)!.fields)
    .find(({ kind }) => kind === 'date');

/** The fields of a definition that conditions can test: exposed, declared, single values, and not references. */
function fieldsOf({ name: schema, fieldsToExpose, ...definition }: Definition): Field[] {
  const declared = definition.schema as JsonObject;
  const properties = Object.keys(declared['properties'] ?? {});
  const named =
    fieldsToExpose?.filter(({ exposure }) => exposure.includes('segments')) ??
    properties.map((name) => ({ name: wordsOf(name), jsonPath: jsonPathTo(name) ?? '' }));
  return named.flatMap(({ name, jsonPath }) => {
    const names = parseJsonPath(jsonPath);
    const kind = names && kindOfField(subschemaAt(declared, names));
    // `Marketing opt-in` loses its capital inside a sentence, `VAT number` does not.
    const plain = name.replaceAll(/["\s]+/g, ' ').trim();
    const shown = plain.replace(/^\p{Lu}(?=\p{Ll})/u, (capital) => capital.toLowerCase());
    return kind === undefined || shown === '' ? [] : [{ name: shown, schema, jsonPath, kind }];
  });
}

/** The kind of a field; undefined for an object, a reference and a field that is not declared. */
function kindOfField(schema: JsonObject | undefined): FieldKind | undefined {
  const types = [schema?.['type']].flat();
  if (schema === undefined || typeof schema['$ref'] === 'string' || types.includes('object')) return undefined;
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  return schema['format'] === 'date' || schema['format'] === 'date-time' ? 'date' : 'text';
}

/** The shortest paths along references from the records of `from`, shortest first; the reference declared first wins. */
function pathsFrom(from: string, all: readonly Definition[]): Map<string, readonly Step[]> {
  const steps = all.flatMap(({ name, schema }) =>
    referencesOf(schema as JsonObject)
      .filter(({ schemaName }) => all.some((other) => other.name === schemaName))
      .flatMap(({ field, schemaName }) => [
        { start: schemaName, step: { schema: name, field, to: 'children' as const } },
        { start: name, step: { schema: schemaName, field, to: 'parent' as const } },
      ]),
  );
  const paths = new Map<string, readonly Step[]>([[from, []]]);
  // A map is read in the order of insertion, and what is inserted meanwhile is read too.
  for (const [end, path] of paths)
    for (const { start, step } of steps)
      if (start === end && path.length < LONGEST_PATH && !paths.has(step.schema))
        paths.set(step.schema, [...path, step]);
  paths.delete(from);
  return paths;
}
