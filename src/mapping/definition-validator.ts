/** ajv over a schema definition's JSON Schema, in the dialect that the schema names. */
import { Ajv } from 'ajv';
import type { Options, ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { withReferenceValues } from '../domain/references.js';
import { addBoundedFormats, PATTERNS } from '../patterns/ajv-patterns.js';

export interface DefinitionValidator {
  readonly validate: ValidateFunction;
  /** Whether a keyword can make a value invalid in this dialect, as far as ajv knows; all others are notes. */
  knows(keyword: string): boolean;
  /** Compiles a part of the schema that refers to nothing outside itself. */
  part(schema: JsonValue): ValidateFunction;
}

const compiled = new WeakMap<JsonObject, DefinitionValidator>();

/** Compiles once per schema object. Throws what ajv throws; a reference to anywhere outside is such an error. */
export function definitionValidator(schema: JsonObject): DefinitionValidator {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    if (schema['$async'] === true) throw new Error('$async is not supported');
    // One instance per schema: two partners' schemas may carry the same $id.
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

function newAjv(dialect: unknown): Ajv {
  const options: Options = { strict: false, allErrors: true, logger: false, code: { regExp: PATTERNS } };
  if (typeof dialect === 'string' && dialect.includes('2020-12')) return new Ajv2020(options);
  if (typeof dialect === 'string' && dialect.includes('2019-09')) return new Ajv2019(options);
  return new Ajv(options);
}
