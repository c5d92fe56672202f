/** A position says nothing of what the mapping reads by another cursor, so the next incremental run reads every row once. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { eventually, shopForTest, SYNC, type Shop } from './shop.js';

const mappingBy = (cursor: string, table = 'customers'): string => `schema: customer
source: { table: shop.${table} }
key: [id]
cursor: ${cursor}
fields: { customerId: id, name: name }
`;
const run = (shop: Shop, more: object = {}) => shop.run({ mappings: ['customers'], ...more });

/** Two customers that were delivered by this cursor, a column of times that the statement has added. */
async function shopBy(cursor: string, statement: string): Promise<Shop> {
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': mappingBy(cursor) } });
  await shop.source.query(statement);
  await shop.source.query(`INSERT INTO shop.customers (id, name) VALUES (1, 'old'), (2, 'old')`);
  expect(await run(shop)).toMatchObject({ outcome: 'complete', total: { read: 2, accepted: 2 } });
  return shop;
}

/** Whether incremental runs deliver a change that is made now. */
async function delivers(shop: Shop, change: string): Promise<void> {
  await shop.source.query(`UPDATE shop.customers SET name = 'new', ${change} WHERE id = 1`);
  const report = await run(shop);
  expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 1 } });
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'new' });
}

const IN_TOKYO = `ALTER TABLE shop.customers ADD at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'Asia/Tokyo')`;

it('delivers changes once local times ahead of UTC have become times with a zone, and sends no other row again', async () => {
  const shop = await shopBy('{ column: at, zone: Asia/Tokyo, overlap: 10m }', IN_TOKYO);
  await shop.source.query(
    `ALTER TABLE shop.customers ALTER at DROP DEFAULT, ALTER at TYPE timestamptz USING at AT TIME ZONE 'Asia/Tokyo'`,
  );
  expect(await run(shop, { acceptChanges: true })).toMatchObject({ total: { read: 2, unchanged: 2 } });
  await delivers(shop, 'at = now()');
  // By now the position is one in the new column: what does not change is not read.
  await shop.source.query(`UPDATE shop.customers SET at = now() - interval '1 hour' WHERE id = 2`);
  expect((await run(shop)).total.read).toBeLessThan(2);
});

it('delivers changes once the mapping names another cursor, in another zone, and foresees that', async () => {
  const shop = await shopBy('{ column: at, zone: Asia/Tokyo, overlap: 10m }', IN_TOKYO);
  shop.write('customers.mapping.yaml', mappingBy('{ column: updated_at, overlap: 10m }'));
  const { stdout } = await runInProcess(['preview', SYNC, 'customers'], shop.env);
  expect(stdout).toContain('customers -> customer: read 2 rows');
  await delivers(shop, 'updated_at = now()');
});

it('delivers the older rows of another table', async () => {
  const shop = await shopBy('updated_at', 'CREATE TABLE shop.clients (LIKE shop.customers INCLUDING ALL)');
  await shop.source.query(
    `INSERT INTO shop.clients (id, name, updated_at) VALUES (3, 'new', now() - interval '1 day')`,
  );
  shop.write('customers.mapping.yaml', mappingBy('updated_at', 'clients'));
  expect(await run(shop)).toMatchObject({ total: { read: 1, accepted: 1 } });
});

it("delivers changes although a position lies ahead of the source's clock, which was wrong once", async () => {
  const shop = await shopBy('updated_at', 'SELECT');
  await shop.state.query(`UPDATE partner_sync.positions SET cursor = '2030-01-01 00:00:00+00'`);
  await delivers(shop, 'updated_at = now()');
  await eventually('that the position is behind the clock', async () => {
    const [position] = await shop.state.query<{ cursor: string }>('SELECT cursor FROM partner_sync.positions');
    return position!.cursor < new Date().toISOString();
  });
});
