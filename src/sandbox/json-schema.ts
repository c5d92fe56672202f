/** The JSON Schema compilers: one configuration for requests, one for the records of a schema definition. */
import { Ajv, type AnySchema, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { withReferenceValues } from '../domain/references.js';
import type { JsonObject } from '../domain/json.js';
import { addBoundedFormats, PATTERNS } from '../patterns/ajv-patterns.js';
import { errorTexts } from './validation-messages.js';

/** A compiler with formats, for schemas of the contract. */
export function newAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: false, ...options });
  addBoundedFormats(ajv);
  return ajv;
}

/** A TypeBox schema as plain JSON Schema, which is what it is at run time. */
export const schemaOf = (schema: TSchema): AnySchema => schema;

/** The problem of a record: the JSON Schema keyword that it breaks, and all its breaches in words. */
export interface RecordProblem {
  readonly rule: string;
  readonly reason: string;
}

/** What the settings say of JSON Schemas. */
export interface SchemaRules {
  /** `draft-07` or `2020-12`, where a schema does not say. */
  readonly dialect: string;
  readonly formats: boolean;
}

export type RecordValidator = (record: JsonObject) => RecordProblem | undefined;

/** Breaches named for one record; a record of the wrong kind altogether would otherwise fill the answer. */
const NAMED_BREACHES = 10;

/**
 * Compiles a schema definition's JSON Schema, or throws an Error that says why it is none.
 *
 * Each has a compiler of its own: two definitions may use the same `$id`, which one compiler refuses.
 * Nothing is loaded from elsewhere, so a remote `$ref` does not compile.
 */
export function compileRecordSchema(schema: JsonObject, rules: SchemaRules): RecordValidator {
  if (schema['$async'] !== undefined) throw new Error('"$async" is not supported');
  const dialect = typeof schema['$schema'] === 'string' ? schema['$schema'] : rules.dialect;
  const options: Options = {
    ...{ allErrors: true, strict: false, logger: false, validateFormats: rules.formats },
    code: { regExp: PATTERNS },
  };
  const ajv = dialect.includes('2020-12') ? new Ajv2020(options) : new Ajv(options);
  addBoundedFormats(ajv);
  const validate = ajv.compile(withReferenceValues(schema));
  return (record) => {
    if (validate(record)) return undefined;
    const texts = errorTexts(validate.errors);
    const named = texts.slice(0, NAMED_BREACHES).join('; ');
    const rest = texts.length > NAMED_BREACHES ? `; ... and ${texts.length - NAMED_BREACHES} more` : '';
    return { rule: validate.errors?.[0]?.keyword ?? 'schema', reason: named + rest };
  };
}
