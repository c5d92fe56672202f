/** Which tenants' rows are delivered ahead of their turn. */
import { expect, it } from 'vitest';
import { smallTenants } from '../../src/delivery/small-tenants/small-tenants.js';

const counts = (rows: Readonly<Record<string, number>>) =>
  Object.entries(rows).map(([value, number]) => ({ value, rows: number }));

it('takes tenants with at most a thousand rows, those with the fewest first', () => {
  expect(smallTenants(counts({ huge: 1_000_000, ten: 10, thousand: 1_000, more: 1_001, one: 1 }))).toEqual([
    'one',
    'ten',
    'thousand',
  ]);
});

it('takes no more than ten thousand rows together', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`t${i}`, 900]));
  expect(smallTenants(counts({ ...many, few: 5 }))).toHaveLength(12);
  expect(smallTenants(counts({ ...many, few: 5 }))[0]).toBe('few');
  const equal = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, 1_000]));
  expect(smallTenants(counts(equal))).toHaveLength(10);
});

it('leaves rows without a tenant alone, since they fail', () => {
  expect(smallTenants([{ value: null, rows: 3 }, ...counts({ a: 4, b: 5_000 })])).toEqual(['a']);
  expect(smallTenants([])).toEqual([]);
});
