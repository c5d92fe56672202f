/** Which country `init` suggests for telephone numbers: one that the rows show, or none. */
import { expect, it } from 'vitest';
import type { SourceTable } from '../../src/domain/source/source-catalog.js';
import { phoneComment } from '../../src/init/guess-country.js';

/** The comment for a table whose text columns have these values. */
function commentOn(values: Readonly<Record<string, readonly string[]>>): string {
  const columns = Object.keys(values).map((name) => ({ name, type: 'text' }));
  return phoneComment({ columns } as unknown as SourceTable, 'phone', (column) => values[column] ?? []);
}

it.each([
  ['a column of country codes', { phone: ['030 901820'], country: ['DE', 'DE', 'de '] }, 'DE'],
  ['a column of English names', { phone: ['020 7946 0018'], billing_country: ['United Kingdom'] }, 'GB'],
  ['the prefixes of the numbers', { phone: ['+4930901820', '0049 30 901821', '030 901822'] }, 'DE'],
])('suggests the country that %s shows', (_case, values, country) => {
  expect(commentOn(values)).toContain(`phone: { country: ${country} }`);
});

it.each([
  ['customers are from all over the world', { phone: ['+4930901820', '+442079460018', '+33142685300'] }],
  ['no number has a prefix', { phone: ['020 7946 0018'] }],
  ['there are no rows', { phone: [] }],
  ['the countries differ', { phone: ['030 901820'], country: ['DE', 'GB'] }],
])('invents no country if %s', (_case, values) => {
  expect(commentOn(values)).toMatch(/^DECIDE: .*country: <two letters>/);
});
