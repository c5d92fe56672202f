/** The schemas that are compiled without being looked at first, at each start, are valid JSON Schemas. */
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { LANGUAGE_FILE_KINDS, languageSchema } from '../../src/mapping/language-schema.js';
import { operations } from '../../src/platform/contract/operations.js';

const problemsOf = (schema: object): unknown => {
  const ajv = new Ajv({ strict: false });
  return ajv.validateSchema(schema) === true ? null : ajv.errors;
};

it.each(LANGUAGE_FILE_KINDS)('%s.schema.json is a valid schema', (kind) => {
  expect(problemsOf(languageSchema(kind).root)).toBeNull();
});

it.each(Object.entries(operations))('the answer of %s is told by a valid schema', (_, { data }) => {
  expect(problemsOf(data)).toBeNull();
});

it('an invalid schema would be found', () => {
  expect(problemsOf({ type: 'strin' })).not.toBeNull();
});
