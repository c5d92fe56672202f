/**
 * What a schema definition asks beyond what the plans of the fields prove: all that is left to check for each row.
 *
 * A record is valid under `properties`, `required` and `additionalProperties` exactly if each of its fields is, so
 * fields can be checked one by one. Any rule about the record as a whole (`if`, `anyOf`, `dependencies` ...) needs
 * the whole record.
 */
import type { ValidateFunction } from 'ajv';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { referencesOf } from '../domain/references.js';
import type { Proven } from './conversion.js';
import type { DefinitionValidator } from './definition-validator.js';
import type { FieldReader } from './field-plan.js';
import { asObject, propertiesOf, requiredOf } from './target.js';

/** What of a field's rules is left to check: nothing, that its text is not empty, or all of them. */
export type Unproven = 'nothing' | 'not empty' | ValidateFunction;

/** Rules of a record that are looked at here; a keyword that ajv does not know is none. */
const BY_FIELD = ['type', 'properties', 'required', 'additionalProperties', '$comment'];
/** A part that refers to others cannot be compiled by itself. */
const REFERS = /"\$(?:ref|id|anchor|dynamic\w+|recursive\w+)":/;

/** By field, or null where only the whole record can be checked. */
export function unprovenRules(
  schema: JsonObject,
  validator: DefinitionValidator,
  fields: ReadonlyMap<string, FieldReader>,
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

function unprovenOfField(
  rules: JsonValue,
  validator: DefinitionValidator,
  proven: FieldReader['proven'],
): Unproven | null {
  if (rules === true) return 'nothing';
  const left = Object.entries(asObject(rules) ?? { not: {} }).filter(
    ([keyword, value]) => validator.knows(keyword) && !(proven !== 'reference' && isProven(keyword, value, proven)),
  );
  if (left.length === 0) return 'nothing';
  if (left.length === 1 && left[0]![0] === 'minLength' && left[0]![1] === 1) return 'not empty';
  return REFERS.test(JSON.stringify(rules)) ? null : validator.part(rules);
}

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
