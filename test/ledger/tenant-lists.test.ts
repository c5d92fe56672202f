/** Which changes of how a sync tells tenants move rows that were sent to another tenant. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { TenantRule } from '../../src/domain/sync/sync.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();

const one = (tenant: string): TenantRule => ({ kind: 'constant', tenant });
const by = (column: string, values: Readonly<Record<string, string>>): TenantRule => ({
  kind: 'column',
  column,
  values: new Map(Object.entries(values)),
});

/** What a run goes by that begins with this rule, and ends. */
async function runWith(sync: string, rule: TenantRule) {
  const run = await newRun(the.ledger, { sync });
  const tenants = await the.ledger.tenantLists.ofRun(run, sync, () => Promise.resolve(rule));
  await the.ledger.runs.end(run, 'failed');
  return tenants;
}

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
  for (const rule of rules.slice(0, -1)) await runWith(sync, rule);

  const last = rules.at(-1)!;
  expect(await the.ledger.tenantLists.moves(sync, last)).toBe(moves);
  for (let time = 1; time <= 2; time++) expect((await runWith(sync, last)).moves).toBe(moves);
});

it('counts a move once, however many runs begin with it at the same time', async () => {
  const sync = randomUUID();
  await runWith(sync, one('north'));

  const begun = await Promise.all(Array.from({ length: 5 }, () => runWith(sync, one('south'))));

  expect(begun.map(({ moves }) => moves)).toEqual([1, 1, 1, 1, 1]);
});

it('is the same in all processes of a run, whichever of them reads the list first, until the run ends', async () => {
  const sync = randomUUID();
  await runWith(sync, by('shop', { a: 'north' }));
  const run = await newRun(the.ledger, { sync });
  const lists = [by('shop', { a: 'south' }), by('shop', { a: 'north' })];

  const [first, ...others] = await Promise.all(
    [...lists, ...lists].map((rule) => the.ledger.tenantLists.ofRun(run, sync, () => Promise.resolve(rule))),
  );

  for (const other of others) expect(other).toEqual(first);
  expect(await the.ledger.tenantLists.ofRun(run, sync, () => Promise.reject(new Error('read again')))).toEqual(first);
  await the.ledger.runs.end(run, 'failed');
  expect(await the.database.query(`SELECT FROM partner_sync.run_tenants WHERE run_id = $1`, [run])).toEqual([]);
  const late = await the.ledger.tenantLists.ofRun(run, sync, () => Promise.resolve(lists[0]!));
  expect(late.rule).toEqual(lists[0]);
  expect(await the.database.query(`SELECT FROM partner_sync.run_tenants WHERE run_id = $1`, [run])).toEqual([]);
});
