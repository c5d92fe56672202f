/** Compiles the JSON Schema of a schema definition with ajv, in the dialect that it names. */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { withReferenceValues } from '../../domain/references.js';
import { addBoundedFormats, PATTERNS } from '../../patterns/ajv-patterns.js';

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
    // One ajv instance per schema, since two schemas may have the same $id.
    const ajv = newAjv(schema['$schema']);
    addBoundedFormats(ajv);
    validator = {
      validate: ajv.compile(withReferenceValues(schema)),
      knows: (keyword) => ajv.getKeyword(keyword) !== false,
      part: (part) => ajv.compile(part as JsonObject | boolean),
    };
    compiled.set(schema, validator);
  }
  return validator;
}

/**
 * Draft 7, unless the schema names 2019-09 or 2020-12. Not strict: the platform may know keywords that ajv does not.
 */
function newAjv(dialect: unknown): Ajv {
  const options: Options = { strict: false, allErrors: true, logger: false, code: { regExp: PATTERNS } };
  if (typeof dialect === 'string' && dialect.includes('2020-12')) return new Ajv2020(options);
  if (typeof dialect === 'string' && dialect.includes('2019-09')) return new Ajv2019(options);
  return new Ajv(options);
}
