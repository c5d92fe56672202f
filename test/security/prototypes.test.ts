/** Names that mean something to JavaScript are names like any other, or refused: no input changes the prototype of all objects. */
import { afterEach, describe, expect, it } from 'vitest';
import type { PlatformClient } from '../../src/platform/client.js';
import { answer, errorOf, stubPlatform, success } from '../platform/stub-platform.js';
import { fill, shopForTest } from '../pipeline/shop.js';
import { ENV, FILES, findingsOf, lint } from '../mapping/sync-on-disk.js';

/** Objects that would leave `polluted` on every other one if they were merged carelessly. */
const POLLUTING: readonly string[] = [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":{"__proto__":{"polluted":1}}}',
  '{"__proto__.polluted":1}',
  '{"data":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
  '[{"__proto__":{"polluted":1}}]',
];

afterEach(() => {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((Object as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

describe('the files of a sync', () => {
  it.each(POLLUTING)('are refused with %s in the place of a whole file and of each of its keys', async (json) => {
    for (const name of Object.keys(FILES)) expect(await findingsOf({ [name]: json })).not.toEqual([]);
    for (const key of ['source', 'tenant', 'upload', 'limits', 'retention', 'schedules', 'alerts', 'guard'])
      expect(await findingsOf({ 'sync.yaml': `${FILES['sync.yaml']}x: ${json}\n${key}: ${json}\n` })).not.toEqual([]);
  });

  it('keep such names of columns apart from properties', async () => {
    const { sync, findings } = await lint(
      { 'people.mapping.yaml': `${FILES['people.mapping.yaml']!.replace('name: name', 'name: __proto__')}` },
      ENV,
    );
    expect(findings).toEqual([]);
    expect(sync!.mappings[0]!.fields.get('name')).toMatchObject({ column: '__proto__' });
  });

  it('may merge no keys from an alias', async () => {
    const text = `base: &base { __proto__: { polluted: 1 } }\n<<: *base\n${FILES['people.mapping.yaml']}`;
    expect(await findingsOf({ 'people.mapping.yaml': text })).not.toEqual([]);
  });
});

describe('the platform', () => {
  const calls: readonly [string, (client: PlatformClient) => Promise<unknown>][] = [
    ['a batch', (client) => client.getBatch('b', {}, { tenant: 'north' })],
    ['a resource', (client) => client.findResource('customer', 'x', { tenant: 'north' })],
    ['a list', (client) => client.listTenantUsage()],
  ];

  it.each(POLLUTING)('changes no prototype by a response with %s', async (json) => {
    for (const [what, call] of calls)
      for (const status of [200, 400, 500]) {
        const body = { success: status === 200, message: 'no', data: JSON.parse(json) as object };
        const { client } = await stubPlatform([status === 200 ? success(body.data) : answer(status, body)], {
          retryBudget: 0,
        });
        expect((await errorOf(call(client))).message, `${what} ${status}`).toMatch(/returned/);
      }
  });
});

describe('rows', () => {
  it('carry such names in JSON columns, and as ids, to the platform and back', async () => {
    const shop = await shopForTest({
      tenants: ['north', 'south'],
      files: {
        'customers.mapping.yaml': `schema: customer\nsource: { table: shop.customers }\nkey: [id]\nfields: { customerId: name, status: email }\n`,
      },
    });
    await fill(shop, 4);
    const ids = ['__proto__', 'constructor', 'prototype', 'toString'];
    for (const [i, id] of ids.entries())
      await shop.source.query(`UPDATE shop.customers SET name = $1, email = $2 WHERE id = $3`, [
        id,
        POLLUTING[i],
        i + 1,
      ]);

    const report = await shop.run({ mappings: ['customers'] });

    expect(report).toMatchObject({ outcome: 'complete', total: { read: 4, accepted: 4 } });
    for (const [i, id] of ids.entries())
      expect(await shop.stored('customer', id)).toMatchObject({ customerId: id, status: POLLUTING[i] });
    expect(await shop.reconcile('customers')).toMatchObject({ rows: 4, equal: 4, extra: 0 });
    expect((await shop.run({ mode: 'full', mappings: ['customers'] })).total).toMatchObject({ unchanged: 4 });
  });
});
