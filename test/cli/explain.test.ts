/** `explain` says why a record is, or is not, on the platform; each reason has its own message. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

let shop: Shop;

interface Explained {
  records: { state: string; tenant: string; why: string; next: string[]; row: object | null; platform: object }[];
}
const explain = async (mapping: string, id: string) => {
  const { code, json } = await runInProcess(['explain', SYNC, mapping, id, '--json'], shop.env);
  return { code, ...json<Explained>().records[0]!, all: json<Explained>().records };
};

beforeAll(async () => {
  shop = await openShop({ wait: '10m', upload: { waitForPending: '1s' } });
  await fill(shop, 10);
  await shop.source.query(`UPDATE shop.customers SET email = 'canary' WHERE id = 3`);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 4711, 1)`);
  await shop.work();
  expect((await shop.run()).outcome).toBe('incomplete');
  await shop.rest();
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id = 5`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 6`);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (99, 'New', 'A')`);
  const body = JSON.stringify({ resources: [{ customerId: '7', name: 'By somebody else' }] });
  await (await shop.parts.platform()).uploadResources('customer', body, { onconflict: 'upsert' }, { tenant: 'north' });
  shop.proxy.forget();
}, 180_000);
afterAll(() => shop.close());

describe('the states of a record', () => {
  it.each([
    ['customers', '1', 'delivered', 0],
    ['lines', 'o1-1', 'delivered', 0],
    ['customers', '3', 'unmappable', 1],
    ['orders', 'orphan', 'waiting', 1],
    ['customers', '5', 'changed_since', 1],
    ['customers', '6', 'row_gone', 1],
    ['customers', '7', 'altered_on_platform', 1],
    ['customers', '99', 'not_sent_yet', 1],
    ['customers', '4711', 'never_seen', 1],
    ['customers', 'no-number', 'never_seen', 1],
    ['lines', 'nothing', 'never_seen', 1],
  ])('%s %s: %s', async (mapping, id, state, exit) => {
    const { code, ...first } = await explain(mapping, id);
    expect(first).toMatchObject({ state, tenant: 'north' });
    expect(code).toBe(exit);
  });
});

it('says what a waiting record waits for, and until when', async () => {
  const { stdout } = await runInProcess(['explain', SYNC, 'orders', 'orphan'], shop.env);
  expect(stdout).toContain('orders orphan of tenant north: refers to a parent that is not in the source');
  expect(stdout).toMatch(
    /waiting {5}parent_missing of customer 4711, since .*, next attempt .*, pending on the platform until /,
  );
  expect(stdout).toContain('partner-sync explain shop customers 4711');
});

it('says what to check for an unknown id, after searching every tenant', async () => {
  const { all } = await explain('customers', '4711');
  expect(all.map((r) => [r.tenant, r.state])).toEqual([
    ['north', 'never_seen'],
    ['south', 'never_seen'],
  ]);
  expect(all[0]!.next.join()).toContain('spelled as the mapping customers makes it');
});

it('masks values by default, and writes nothing', async () => {
  const masked = await runInProcess(['explain', SYNC, 'customers', '5'], shop.env);
  expect(masked.stdout).toContain('name=text(7) aaaaaaa');
  expect(masked.stdout).not.toContain('Changed');
  const shown = await runInProcess(['explain', SYNC, 'customers', '5', '--show-values'], shop.env);
  expect(shown.stdout).toContain('name=Changed');
  expect(shop.proxy.requests.every((r) => r.method === 'GET')).toBe(true);
});

it('says what the mapping does about a record whose row is gone, and whether it is done', async () => {
  const gone = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(gone.stdout).toContain('the mapping does not declare `deletes`, or ignores deleted rows');
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const before = readFileSync(file, 'utf8');
  shop.write('customers.mapping.yaml', `${before}deletes: { action: { clear: [name, email, status] } }\n`);
  const planned = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(planned.stdout).toContain('a mirror run applies what `deletes` says');
  expect(planned.code).toBe(1);

  await shop.work();
  await shop.run({ mode: 'mirror', mappings: ['customers'] });
  await shop.rest();

  const marked = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(marked.stdout).toContain('the platform has accepted what `deletes` says');
  expect(marked.code).toBe(0);
});

it('suggests the mapping that was probably meant', async () => {
  const { code, stderr } = await runInProcess(['explain', SYNC, 'custmers', '1'], shop.env);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "customers"?');
});
