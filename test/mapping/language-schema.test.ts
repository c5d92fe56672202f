/** The schemas that each start compiles without validating them are valid JSON Schemas. */
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { LANGUAGE_FILE_KINDS, languageSchema } from '../../src/mapping/language/language-schema.js';
import { operations } from '../../src/platform/contract/operations.js';

const problemsOf = (schema: object): unknown => {
  const ajv = new Ajv({ strict: false });
  return ajv.validateSchema(schema) === true ? null : ajv.errors;
};

it.each(LANGUAGE_FILE_KINDS)('%s.schema.json is a valid schema', (kind) => {
  expect(problemsOf(languageSchema(kind).root)).toBeNull();
});

it.each(Object.entries(operations))('the answer of %s has a valid schema', (_, { data }) => {
  expect(problemsOf(data)).toBeNull();
});

it('an invalid schema is detected', () => {
  expect(problemsOf({ type: 'strin' })).not.toBeNull();
});
