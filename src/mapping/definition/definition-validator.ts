/** Compiles the JSON Schema of a schema definition with ajv, in the dialect that it names. */
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import { withReferenceValues } from '../../domain/records/references.js';
import { ajvOfItsOwn } from '../../patterns/ajv-of-its-own.js';

/**
 * The compiled JSON Schema of one schema definition (platform-api.md section 2). The platform validates again, by its
 * own rules; what it rejects becomes a dead letter as well.
 */
export interface DefinitionValidator {
  /** Validates a record as it is sent, references included, and collects all errors in `validate.errors`. */
  readonly validate: ValidateFunction;
  /** Whether ajv knows the keyword in this dialect; unknown keywords never make a value invalid. */
  knows(keyword: string): boolean;
  /** Compiles a part of the schema that refers to nothing outside itself. */
  part(schema: JsonValue): ValidateFunction;
}

const compiled = new WeakMap<JsonObject, DefinitionValidator>();

/**
 * The validator of a schema, compiled once per object. Throws what ajv throws, as for a `$ref` that leads out of the
 * schema (references to other schema definitions are allowed), and for `$async`.
 */
export function definitionValidator(schema: JsonObject): DefinitionValidator {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    if (schema['$async'] === true) throw new Error('$async is not supported');
    const whole = withReferenceValues(schema);
    const ajv = ajvOfItsOwn(whole, dialectOf(schema['$schema']));
    validator = {
      validate: ajv.compile(whole),
      knows: (keyword) => ajv.getKeyword(keyword) !== false,
      part: (part) => ajv.compile(part as JsonObject | boolean),
    };
    compiled.set(schema, validator);
  }
  return validator;
}

/** Draft 7, unless the schema names 2019-09 or 2020-12. */
function dialectOf(named: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  if (typeof named === 'string' && named.includes('2020-12')) return Ajv2020;
  if (typeof named === 'string' && named.includes('2019-09')) return Ajv2019;
  return Ajv;
}
