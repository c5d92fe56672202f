/**
 * Creates the JSON Schema validators: one configuration for requests and files, one for the records of a schema
 * definition.
 */
import { Ajv, type AnySchema, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { withReferenceValues } from '../domain/records/references.js';
import type { JsonObject } from '../domain/values/json.js';
import { ajvOfItsOwn } from '../patterns/ajv-of-its-own.js';
import { addBoundedFormats, PATTERNS } from '../patterns/ajv-patterns.js';
import { errorTexts } from './validation-messages.js';

/**
 * An Ajv instance for the contract's schemas: it reports all errors, matches patterns in bounded time, knows formats and accepts unknown
 * keywords.
 */
export function createAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: false, code: { regExp: PATTERNS }, ...options });
  addBoundedFormats(ajv);
  return ajv;
}

/** Types a TypeBox schema as the plain JSON Schema that it is at run time. */
export const schemaOf = (schema: TSchema): AnySchema => schema;

/** Why a record does not match its schema definition. */
export interface RecordProblem {
  /** The JSON Schema keyword of the first breach, such as `required`; batches count errors by it. */
  readonly rule: string;
  /** All breaches in words, joined by semicolons. */
  readonly reason: string;
}

/** Which JSON Schema dialect definitions are written in, and whether `format` is checked. */
export interface SchemaRules {
  /** `draft-07` or `2020-12`; applies if a schema has no `$schema`. */
  readonly dialect: string;
  readonly formats: boolean;
}

/** Validates a record; undefined means that it is valid. */
export type RecordValidator = (record: JsonObject) => RecordProblem | undefined;

/** Breaches listed for one record. A record of an entirely different kind would otherwise fill the response. */
const NAMED_BREACHES = 10;

/**
 * Compiles a schema definition's JSON Schema, or throws an Error with the reason why it does not compile.
 *
 * Each definition has an Ajv instance of its own, because two definitions may use the same `$id`, which one instance
 * would refuse. Nothing is fetched over the network, so a remote `$ref` does not compile.
 */
export function compileRecordSchema(schema: JsonObject, rules: SchemaRules): RecordValidator {
  if (schema['$async'] !== undefined) throw new Error('"$async" is not supported');
  const dialect = typeof schema['$schema'] === 'string' ? schema['$schema'] : rules.dialect;
  const whole = withReferenceValues(schema);
  const ajv = ajvOfItsOwn(whole, dialect.includes('2020-12') ? Ajv2020 : Ajv, { validateFormats: rules.formats });
  const validate = ajv.compile(whole);
  return (record) => {
    if (validate(record)) return undefined;
    const texts = errorTexts(validate.errors);
    const named = texts.slice(0, NAMED_BREACHES).join('; ');
    const rest = texts.length > NAMED_BREACHES ? `; ... and ${texts.length - NAMED_BREACHES} more` : '';
    return { rule: validate.errors?.[0]?.keyword ?? 'schema', reason: named + rest };
  };
}
