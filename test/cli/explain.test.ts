/** `explain` says why a record is, or is not, on the platform; each reason has its own words. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync } from './command-line.js';

let shop: Shop;

interface Explained {
  records: { state: string; tenant: string; why: string; next: string[]; row: object | null; platform: object }[];
}
const explain = async (mapping: string, id: string) => {
  const { code, json } = await partnerSync(['explain', SYNC, mapping, id, '--json'], shop.env);
  return { code, ...json<Explained>().records[0]!, all: json<Explained>().records };
};

beforeAll(async () => {
  await build();
  shop = await openShop({ wait: '10m', upload: { followFor: '1s' } });
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
  const { stdout } = await partnerSync(['explain', SYNC, 'orders', 'orphan'], shop.env);
  expect(stdout).toContain('orders orphan of tenant north: refers to a parent that is not in the source');
  expect(stdout).toMatch(
    /waiting {2}parent_missing of customer 4711, since .*, next look .*, the platform waits until /,
  );
  expect(stdout).toContain('partner-sync explain shop customers 4711');
});

it('says of an id that nobody has seen what to check, having asked every tenant', async () => {
  const { all } = await explain('customers', '4711');
  expect(all.map((r) => [r.tenant, r.state])).toEqual([
    ['north', 'never_seen'],
    ['south', 'never_seen'],
  ]);
  expect(all[0]!.next.join()).toContain('spelled as the mapping customers makes it');
});

it('masks values unless it is asked for them, and writes nothing', async () => {
  const masked = await partnerSync(['explain', SYNC, 'customers', '5'], shop.env);
  expect(masked.stdout).toContain('name=text(7) aaaaaaa');
  expect(masked.stdout).not.toContain('Changed');
  const shown = await partnerSync(['explain', SYNC, 'customers', '5', '--show-values'], shop.env);
  expect(shown.stdout).toContain('name=Changed');
  expect(shop.proxy.requests.every((r) => r.method === 'GET')).toBe(true);
});

it('says of a record whose row is gone what the mapping does about it, and whether that is done', async () => {
  const gone = await partnerSync(['explain', SYNC, 'customers', '6'], shop.env);
  expect(gone.stdout).toContain('the mapping does not say with `deletes` what becomes of it');
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const before = readFileSync(file, 'utf8');
  shop.write('customers.mapping.yaml', `${before}deletes: { action: { clear: [name, email, status] } }\n`);
  const planned = await partnerSync(['explain', SYNC, 'customers', '6'], shop.env);
  expect(planned.stdout).toContain('a mirror run marks it as `deletes` says');
  expect(planned.code).toBe(1);

  await shop.work();
  await shop.run({ mode: 'mirror', mappings: ['customers'] });
  await shop.rest();

  const marked = await partnerSync(['explain', SYNC, 'customers', '6'], shop.env);
  expect(marked.stdout).toContain('the platform has accepted what `deletes` says');
  expect(marked.code).toBe(0);
});

it('names the mapping that was probably meant', async () => {
  const { code, stderr } = await partnerSync(['explain', SYNC, 'custmers', '1'], shop.env);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "customers"?');
});
