/**
 * Determines which rules of a schema definition the plans of the fields do not prove, and so have to be tested for each
 * row (ADR 0010).
 *
 * A record is valid under `properties`, `required` and `additionalProperties` exactly if each of its fields is, so
 * fields can be checked one by one. Any rule about the record as a whole (`if`, `anyOf`, `dependencies` ...) needs the
 * whole record.
 */
import type { ValidateFunction } from 'ajv';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import { referencesOf } from '../../domain/records/references.js';
import type { Proven } from '../encode/conversion.js';
import type { DefinitionValidator } from '../definition/definition-validator.js';
import type { FieldWriter } from './field-writer.js';
import { asObject, propertiesOf, requiredOf } from '../definition/target.js';

/** What is left to test of a field: nothing, that its text is not empty, or all its rules with a validator. */
export type Unproven = 'nothing' | 'not empty' | ValidateFunction;

/** Keywords at the top of a schema that can be tested field by field; any other that ajv knows needs the whole record. */
const BY_FIELD = ['type', 'properties', 'required', 'additionalProperties', '$comment'];
/** Matches the JSON of a subschema that refers to others, and so cannot be compiled separately. */
const REFERS = /"\$(?:ref|id|anchor|dynamic\w+|recursive\w+)":/;

/** What is left to test of each field; null if the whole record has to be validated. */
export function unprovenRules(
  schema: JsonObject,
  validator: DefinitionValidator,
  fields: ReadonlyMap<string, FieldWriter>,
): ReadonlyMap<string, Unproven> | null {
  if (Object.keys(schema).some((keyword) => validator.knows(keyword) && !BY_FIELD.includes(keyword))) return null;
  if (![schema['type'] ?? 'object'].flat().includes('object')) return null;
  if (requiredOf(schema).some((name) => !fields.has(name))) return null;
  const properties = propertiesOf(schema);
  const open = schema['additionalProperties'] === undefined || schema['additionalProperties'] === true;
  const references = new Set(referencesOf(schema).map((reference) => reference.field));
  const unproven = new Map<string, Unproven>();
  for (const [name, { proven }] of fields) {
    const declared = Object.hasOwn(properties, name);
    if (!declared && !open) return null;
    const left = references.has(name)
      ? proven === 'reference'
        ? 'nothing'
        : null
      : unprovenOfField(declared ? properties[name]! : true, validator, proven);
    if (left === null) return null;
    unproven.set(name, left);
  }
  return unproven;
}

/** null if the rules of the field cannot be compiled without the rest of the schema. */
function unprovenOfField(
  rules: JsonValue,
  validator: DefinitionValidator,
  proven: FieldWriter['proven'],
): Unproven | null {
  if (rules === true) return 'nothing';
  const left = Object.entries(asObject(rules) ?? { not: {} }).filter(
    ([keyword, value]) => validator.knows(keyword) && !(proven !== 'reference' && isProven(keyword, value, proven)),
  );
  if (left.length === 0) return 'nothing';
  if (left.length === 1 && left[0]![0] === 'minLength' && left[0]![1] === 1) return 'not empty';
  return REFERS.test(JSON.stringify(rules)) ? null : validator.part(rules);
}

/** Whether a keyword holds for every value of a field. */
function isProven(keyword: string, value: JsonValue, proven: Proven): boolean {
  switch (keyword) {
    case 'type':
      return isOfType([value].flat(), proven.type);
    case 'format':
      return proven.format === value;
    case '$comment':
      return true;
    default:
      return false;
  }
}

const isOfType = (types: readonly JsonValue[], proven: Proven['type']): boolean =>
  proven !== null && (types.includes(proven) || (proven === 'integer' && types.includes('number')));
