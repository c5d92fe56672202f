/** Turns ajv's errors about a record into a message without any value of the record. */
import { quantity } from '../../domain/values/quantity.js';
import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import { asObject, propertiesOf } from '../definition/target.js';

/** A broken rule of the schema definition, as a dead letter reports it: no part of it quotes the record. */
export interface RecordViolation {
  /** JSON pointer; keys that the schema does not declare are written as `*`. */
  readonly pointer: string;
  readonly rule: string;
  readonly reason: string;
  /** The top-level field that contains the violation. */
  readonly field: string;
}

/**
 * The violation of the first field in the order of `fields`, so that the same row always gives the same result; errors
 * of the record as a whole come last. `errors` must not be empty. `isNull`: whether the mapping gave null for a field,
 * which is absent from what ajv saw.
 */
export function firstViolation(
  errors: readonly ErrorObject[],
  schema: JsonObject,
  fields: readonly string[],
  isNull: (field: string) => boolean,
): RecordViolation {
  const order = (error: ErrorObject): number =>
    (fields.indexOf(fieldOf(error)) + fields.length + 1) % (fields.length + 1);
  const first = errors.reduce((best, error) => (order(error) < order(best) ? error : best));
  const field = fieldOf(first);
  if (first.keyword === 'required' && first.instancePath === '')
    return {
      pointer: `/${field}`,
      field,
      rule: 'required',
      reason: isNull(field)
        ? 'is null, and the schema definition requires it'
        : 'is missing, and the schema definition requires it',
    };
  return { pointer: declaredPointer(first.instancePath, schema), field, ...inWords(first) };
}

/** The top-level field of an error; for a missing property, its name. */
function fieldOf(error: ErrorObject): string {
  if (error.instancePath === '') return (error.params as { missingProperty?: string }).missingProperty ?? '';
  return error.instancePath.split('/')[1]!.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Quotes only parameters that come from the schema, since ajv's own messages may contain keys of the data. */
function inWords(error: ErrorObject): { rule: string; reason: string } {
  const p = error.params as Record<string, unknown>;
  const limit = String(p['limit']);
  switch (error.keyword) {
    case 'type':
      return { rule: `type: ${String(p['type'])}`, reason: `is not of type ${String(p['type'])}` };
    case 'format':
      return { rule: `format: ${String(p['format'])}`, reason: `not a valid ${String(p['format'])}` };
    case 'enum':
      return { rule: 'enum', reason: `not one of the allowed values: ${JSON.stringify(p['allowedValues'])}` };
    case 'const':
      return { rule: 'const', reason: `is not ${JSON.stringify(p['allowedValue'])}` };
    case 'pattern':
      return { rule: `pattern: ${String(p['pattern'])}`, reason: `does not match the pattern ${String(p['pattern'])}` };
    case 'minLength':
      return { rule: `minLength: ${limit}`, reason: `shorter than ${quantity(Number(limit), 'character')}` };
    case 'maxLength':
      return { rule: `maxLength: ${limit}`, reason: `longer than ${quantity(Number(limit), 'character')}` };
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return { rule: `${error.keyword}: ${limit}`, reason: `must be ${String(p['comparison'])} ${limit}` };
    case 'multipleOf':
      return {
        rule: `multipleOf: ${String(p['multipleOf'])}`,
        reason: `is not a multiple of ${String(p['multipleOf'])}`,
      };
    case 'required':
      return { rule: 'required', reason: `lacks the property ${String(p['missingProperty'])}` };
    default:
      return { rule: error.keyword, reason: `breaks the rule "${error.keyword}" of the schema definition` };
  }
}

/** Keys that the schema does not declare come from the content of a JSON column, so they are replaced by `*`. */
function declaredPointer(pointer: string, schema: JsonObject): string {
  let at: JsonObject | undefined = schema;
  return pointer
    .split('/')
    .map((step, index) => {
      if (index === 0) return '';
      const properties: JsonObject = propertiesOf(at ?? {});
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const declared: JsonValue | undefined = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (declared !== undefined) {
        at = asObject(declared);
        return `/${step}`;
      }
      at = asObject(at?.['items']);
      return at !== undefined && /^\d+$/.test(step) ? `/${step}` : '/*';
    })
    .join('');
}
