/** Which changes of how a sync tells tenants move rows that were sent to another tenant. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { TenantRule } from '../../src/domain/sync/sync.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

const one = (tenant: string): TenantRule => ({ kind: 'constant', tenant });
const by = (column: string, values: Readonly<Record<string, string>>): TenantRule => ({
  kind: 'column',
  column,
  values: new Map(Object.entries(values)),
});

it.each<[string, readonly [TenantRule, ...TenantRule[]], number]>([
  ['the same again', [one('north'), one('north')], 0],
  ['another tenant for all rows', [one('north'), one('south')], 1],
  ['a new value', [by('shop', { n: 'north' }), by('shop', { n: 'north', s: 'south' })], 0],
  ['a value that is gone', [by('shop', { n: 'north', s: 'south' }), by('shop', { n: 'north' })], 0],
  ['two values that are swapped', [by('shop', { a: 'north', b: 'south' }), by('shop', { a: 'south', b: 'north' })], 1],
  [
    'a value that was gone, for another tenant',
    [by('shop', { a: 'north' }), by('shop', { b: 'south' }), by('shop', { a: 'south' })],
    1,
  ],
  ['another column', [by('shop', { a: 'north' }), by('store', { a: 'north' })], 1],
  ['a column instead of one tenant', [one('north'), by('shop', { a: 'north' })], 1],
  ['there and back', [one('north'), one('south'), one('north')], 2],
  [
    'a value with the name of what objects have',
    [by('shop', { constructor: 'north' }), by('shop', { toString: 'south' })],
    0,
  ],
  [
    'a value named __proto__',
    [
      by('shop', JSON.parse('{"__proto__":"north"}') as Record<string, string>),
      by('shop', JSON.parse('{"__proto__":"south"}') as Record<string, string>),
    ],
    1,
  ],
])('%s', async (_what, rules, moves) => {
  const sync = randomUUID();
  const { tenantLists } = the.ledger;
  for (const rule of rules.slice(0, -1)) await tenantLists.note(sync, rule);

  const last = rules.at(-1)!;
  expect(await tenantLists.moves(sync, last)).toBe(moves);
  expect(await tenantLists.note(sync, last)).toBe(moves);
  expect(await tenantLists.note(sync, last)).toBe(moves);
});

it('counts a move once, however many runs notice it at the same time', async () => {
  const sync = randomUUID();
  const { tenantLists } = the.ledger;
  await tenantLists.note(sync, one('north'));

  const noted = await Promise.all(Array.from({ length: 5 }, () => tenantLists.note(sync, one('south'))));

  expect(noted).toEqual([1, 1, 1, 1, 1]);
});
