/** An environment variable with an impossible value is named, and neither a secret nor a long value is repeated. */
import { expect, it } from 'vitest';
import { readVariable, VARIABLES, type VariableName } from '../../src/config/environment.js';
import { errorOf } from '../platform/stub-platform.js';
import { VARIABLE_VALUES } from './corpus/variables.js';

const cases = Object.entries(VARIABLE_VALUES).flatMap(([name, values]) =>
  values.map((value) => ({ name: name as VariableName, value, title: JSON.stringify(value.slice(0, 40)) })),
);

it.each(cases)('$name=$title', async ({ name, value }) => {
  const { code, message } = await errorOf(readVariable({ [name]: value }, name));

  expect(code).toBe('config_invalid');
  expect(message).toMatch(new RegExp(`^${name} (must|is) `));
  expect(message).not.toMatch(/\p{Cc}|hunter2/u);
  expect(message.length).toBeLessThan(300);
});

it('tries each variable whose values are checked', () => {
  const checked = Object.entries(VARIABLES).flatMap(([name, variable]) => ('check' in variable ? [name] : []));
  expect(Object.keys(VARIABLE_VALUES)).toEqual(expect.arrayContaining(checked));
});
