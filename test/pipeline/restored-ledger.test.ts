/** What docs/repair.md says of a ledger that was restored from an older backup, or lost. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Database, type Shop } from './shop.js';

const FILES = {
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes: { action: { set: { status: gone }, clear: [email] }, hold: { records: 10, percent: 100 } }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] }
`,
};

/** Copies the ledger's tables and sequences into the schema `backup`. */
const backUp = (state: Database) =>
  state.query(`DO $$ DECLARE t text; BEGIN
    CREATE SCHEMA backup;
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'partner_sync' LOOP
      EXECUTE format('CREATE TABLE backup.%1$I AS TABLE partner_sync.%1$I', t);
    END LOOP;
    CREATE TABLE backup."sequences" AS
      SELECT sequencename AS name, last_value AS value FROM pg_sequences WHERE schemaname = 'partner_sync';
  END $$`);

/** Puts tables and sequences back to what they were, as a restore does. */
const restore = (state: Database) =>
  state.query(`DO $$ DECLARE t text; s record; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'partner_sync' LOOP
      EXECUTE format('DELETE FROM partner_sync.%1$I', t);
      EXECUTE format('INSERT INTO partner_sync.%1$I OVERRIDING SYSTEM VALUE SELECT * FROM backup.%1$I', t);
    END LOOP;
    FOR s IN SELECT * FROM backup."sequences" LOOP
      PERFORM setval(format('partner_sync.%I', s.name), coalesce(s.value, 1), s.value IS NOT NULL);
    END LOOP;
  END $$`);

const status = async (shop: Shop, id: number): Promise<unknown> =>
  (await shop.stored('customer', String(id)))?.['status'];
const email = async (shop: Shop, id: number): Promise<unknown> =>
  (await shop.stored('customer', String(id)))?.['email'];
const change = (shop: Shop, id: number, to: string) =>
  shop.source.query(`UPDATE shop.customers SET email = $2, updated_at = now() WHERE id = $1`, [id, to]);
const add = (shop: Shop, id: number) =>
  shop.source.query(`INSERT INTO shop.customers (id, name, email, status) VALUES ($1, 'New', 'new@example.org', 'A')`, [
    id,
  ]);

async function filled(): Promise<Shop> {
  const shop = await shopForTest({ files: FILES });
  await fill(shop, 6);
  await shop.run();
  return shop;
}

it('a mirror run after a restore sends again what was sent since, and reconcile finds what it cannot know', async () => {
  const shop = await filled();
  await backUp(shop.state);
  await change(shop, 1, 'other@example.org');
  await change(shop, 2, 'changed@example.org');
  for (const id of [7, 8]) await add(shop, id);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await shop.run({ mode: 'mirror' });
  expect([await email(shop, 1), await status(shop, 3), await status(shop, 8)]).toEqual([
    'other@example.org',
    'gone',
    'active',
  ]);

  await shop.rest();
  await restore(shop.state);
  // As it was when the backup was made, and gone: nothing in the ledger says that either was sent.
  await change(shop, 1, 'c1@example.org');
  await shop.source.query('DELETE FROM shop.customers WHERE id = 8');
  await shop.work();
  const report = await shop.run({ mode: 'mirror' });

  expect(report).toMatchObject({
    outcome: 'complete',
    removals: [{ mapping: 'customers', state: 'done', records: 1 }],
  });
  const customers = report.mappings.find(({ mapping }) => mapping === 'customers');
  expect(customers).toMatchObject({ read: 7, accepted: 3, unchanged: 4 });
  expect([await email(shop, 2), await status(shop, 3), await status(shop, 7)]).toEqual([
    'changed@example.org',
    'gone',
    'active',
  ]);
  expect(await email(shop, 1)).toBe('other@example.org');
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 6, equal: 5, stale: 1, extra: 0 });
  // No row, and no entry of the ledger, leads to this record any more.
  expect(await status(shop, 8)).toBe('active');

  const record = ['--mapping', 'customers', '--external-id', '1'];
  expect(await runInProcess(['forget', SYNC, ...record, '--yes'], shop.env)).toMatchObject({ code: 0 });
  expect(await runInProcess(['backfill', SYNC, ...record], shop.env)).toMatchObject({ code: 0 });
  expect(await email(shop, 1)).toBe('c1@example.org');
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('a run with a new ledger sends every row, and does not know the records of rows that are gone', async () => {
  const before = await filled();
  await before.rest();
  await before.source.query('DELETE FROM shop.customers WHERE id = 3');

  const shop = await shopForTest({
    files: FILES,
    pushed: false,
    sourceUrl: before.source.url,
    env: { PLATFORM_BASE_URL: before.proxy.url, PLATFORM_TOKEN: before.token },
  });
  expect((await runInProcess(['schema', 'push', SYNC], shop.env)).code).toBe(0);
  const report = await shop.run({ mode: 'mirror', mappings: ['customers'] });

  expect(report).toMatchObject({ outcome: 'complete', total: { read: 5, accepted: 5 } });
  expect(report.removals).toMatchObject([{ records: 0 }]);
  expect(await status(before, 3)).toBe('active');
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 5, equal: 5, extra: 0 });
});
