/** ajv over a schema definition's JSON Schema, in the dialect that the schema names. */
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../domain/json.js';
import { withReferenceValues } from '../domain/references.js';

const compiled = new WeakMap<JsonObject, ValidateFunction>();

/** Compiles once per schema object. Throws what ajv throws; a reference to anywhere outside is such an error. */
export function definitionValidator(schema: JsonObject): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    if (schema['$async'] === true) throw new Error('$async is not supported');
    // One instance per schema: two partners' schemas may carry the same $id.
    const ajv = newAjv(schema['$schema']);
    addFormats.default(ajv);
    validate = ajv.compile(withReferenceValues(schema));
    compiled.set(schema, validate);
  }
  return validate;
}

function newAjv(dialect: unknown): Ajv {
  const options = { strict: false, allErrors: true, logger: false } as const;
  if (typeof dialect === 'string' && dialect.includes('2020-12')) return new Ajv2020(options);
  if (typeof dialect === 'string' && dialect.includes('2019-09')) return new Ajv2019(options);
  return new Ajv(options);
}
