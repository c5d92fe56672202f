/** What a tenant's texts can speak of: people, their fields, and the records around them, from the schema definitions. */
import type { JsonObject } from '../../domain/json.js';
import { jsonPathTo, parseJsonPath, subschemaAt } from '../json-path.js';
import type { Step } from './condition.js';
import { consentOf, type ContactNames } from './contact-fields.js';
import type { FieldKind } from './operators.js';
import { recordPaths, type Definition } from './record-paths.js';
import { wordsOfName } from './word-forms.js';

export interface Field {
  readonly schema: string;
  readonly jsonPath: string;
  /** As a reader sees it: `Marketing opt-in`. */
  readonly name: string;
  readonly kind: FieldKind;
  /** Where its JSON Schema lists them. */
  readonly choices: readonly string[];
  /** Phrases that mean it, as words in the singular. */
  readonly phrases: readonly (readonly string[])[];
}

/** Records of one schema definition, seen from a person. */
export interface RecordKind {
  readonly schema: string;
  readonly category: string;
  readonly path: readonly Step[];
  readonly nouns: readonly (readonly string[])[];
  readonly fields: readonly Field[];
  /** When it happened. */
  readonly date: Field | undefined;
  /** What it cost. */
  readonly amount: Field | undefined;
}

export interface Vocabulary {
  readonly schema: string;
  /** The word for people that titles and descriptions use, in the singular. */
  readonly noun: string;
  readonly nouns: readonly (readonly string[])[];
  readonly fields: readonly Field[];
  /** The field that says who agreed to messages, or who refused them. */
  readonly consent: { readonly field: Field; readonly means: 'in' | 'out' } | undefined;
  /** Nearest first. */
  readonly records: readonly RecordKind[];
  /** Fields that cannot be spoken of, as words, to say so. */
  readonly hidden: readonly (readonly string[])[];
}

/** Only what is exposed to the segment builder can be spoken of; of a definition that exposes nothing at all, every field. */
const EXPOSURE = 'segments';
const AMOUNT_WORDS = ['total', 'amount', 'price', 'value', 'revenue', 'cost', 'sum', 'spend', 'paid'];

/** The vocabulary around the people of `definition`. */
export function vocabularyOf(
  definition: Definition,
  all: readonly Definition[],
  noun: string,
  names: ContactNames,
): Vocabulary {
  const fields = fieldsOf(definition);
  return {
    schema: definition.name,
    noun,
    nouns: [wordsOfName(noun), ...nounsOf(definition)],
    fields,
    consent: fields.flatMap((field) => consentIn(field, names))[0],
    records: [...recordPaths(definition.name, all)].map(([name, path]) =>
      recordKind(
        all.find((d) => d.name === name)!,
        path,
      ),
    ),
    hidden: all.flatMap(hiddenFields),
  };
}

function consentIn(field: Field, names: ContactNames): NonNullable<Vocabulary['consent']>[] {
  const means = field.kind === 'boolean' ? consentOf(field.jsonPath, names) : undefined;
  return means === undefined ? [] : [{ field, means }];
}

/** The records, then those on the way back to the person: an order line is as old as its order. */
export function chainOf({ records }: Vocabulary, kind: RecordKind): readonly RecordKind[] {
  const schemas = kind.path.map((step) => step.schema).reverse();
  return schemas.flatMap((schema) => records.filter((record) => record.schema === schema));
}

/** The field that says when such records happened. */
export const dateOf = (chain: readonly RecordKind[]): Field | undefined =>
  chain.find(({ date }) => date !== undefined)?.date;

/** Words by which a definition's records are known. */
export function nounsOf({ name, pluralName, category }: Definition): string[][] {
  const own = [wordsOfName(name), wordsOfName(pluralName ?? name)];
  return category === 'transactions_schema' ? [...own, ...TRANSACTION_NOUNS] : own;
}

const TRANSACTION_NOUNS = ['order', 'purchase', 'transaction', 'sale', 'invoice', 'payment'].map((word) => [word]);

function recordKind(definition: Definition, path: readonly Step[]): RecordKind {
  const fields = fieldsOf(definition);
  const numbers = fields.filter((field) => field.kind === 'number');
  const dates = fields.filter((field) => field.kind === 'date');
  return {
    schema: definition.name,
    category: definition.category,
    path,
    nouns: nounsOf(definition),
    fields,
    date: dates[0],
    amount: numbers.find(({ phrases }) => phrases.flat().some((word) => AMOUNT_WORDS.includes(word))),
  };
}

/** The fields of a definition that conditions may use. */
export function fieldsOf(definition: Definition): Field[] {
  return fieldsToUse(definition).flatMap(({ name, jsonPath }) => {
    const names = parseJsonPath(jsonPath);
    const schema = names && subschemaAt(definition.schema, names);
    if (names === undefined || schema === undefined || typeof schema['$ref'] === 'string') return [];
    const kind = kindOf(schema);
    if (kind === undefined) return [];
    const own = [wordsOfName(name), wordsOfName(names.at(-1)!)];
    const phrases = [...own, ...own.map(withoutQuestion)].filter((words) => words.length > 0);
    return [{ schema: definition.name, jsonPath, name, kind, choices: choicesOf(schema), phrases }];
  });
}

function fieldsToUse(definition: Definition): readonly { name: string; jsonPath: string }[] {
  if (definition.fieldsToExpose !== undefined)
    return definition.fieldsToExpose.filter(({ exposure }) => exposure.includes(EXPOSURE));
  const properties = (definition.schema['properties'] ?? {}) as JsonObject;
  return Object.keys(properties).flatMap((name) => {
    const jsonPath = jsonPathTo(name);
    return jsonPath === undefined ? [] : [{ name, jsonPath }];
  });
}

function hiddenFields(definition: Definition): string[][] {
  const used = fieldsOf(definition).map(({ jsonPath }) => jsonPath);
  const names = Object.keys((definition.schema['properties'] ?? {}) as JsonObject);
  return names.filter((name) => !used.includes(jsonPathTo(name) ?? '')).map(wordsOfName);
}

/** `isVip` is also known as `vip`. */
const withoutQuestion = (words: string[]): string[] => (words[0] === 'is' || words[0] === 'has' ? words.slice(1) : []);

/** undefined for fields that are no single values. */
function kindOf(schema: JsonObject): FieldKind | undefined {
  const types = [schema['type']].flat().filter((type) => type !== 'null');
  if (types.includes('object')) return undefined;
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  return schema['format'] === 'date' || schema['format'] === 'date-time' ? 'date' : 'text';
}

function choicesOf(schema: JsonObject): string[] {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [];
  return values.filter((value): value is string => typeof value === 'string');
}
