/** Tenants from a table of the source: read when a run begins, and used exactly as listed. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { failureOf, fill, shopForTest, SYNC, type Shop } from './shop.js';

const syncFile = (from: string, upload: object = {}): string => `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: shop, from: ${from} }
upload: ${JSON.stringify({ inDoubtDelay: '1s', waitForPending: '5s', ...upload })}
`;
const TABLE = '{ table: shop.tenants, value: code, tenant: platform_id }';
const QUERY = '{ query: "SELECT code, platform_id FROM shop.tenants", value: code, tenant: platform_id }';

async function withTenants(from: string, rows: string, files: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const shop = await shopForTest({ files: { 'sync.yaml': syncFile(from), ...files } });
  await shop.source.query(`CREATE TABLE shop.tenants (code text, platform_id text); ${rows}`);
  return shop;
}

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    l.mapping,
    l.externalId,
    l.code,
  ]);

it('sends rows to the tenants that the table names, and rows without one nowhere', async () => {
  const shop = await withTenants(
    TABLE,
    `INSERT INTO shop.tenants VALUES ('n', 'north'), ('s', 'south'), ('s2', 'south')`,
  );
  await fill(shop, 6);
  await shop.source
    .query(`DELETE FROM shop.orders; DELETE FROM shop.lines; ALTER TABLE shop.customers ALTER shop DROP NOT NULL;
    UPDATE shop.customers SET shop = 's' WHERE id = 2; UPDATE shop.customers SET shop = 's2' WHERE id = 3;
    UPDATE shop.customers SET shop = 'new' WHERE id = 4; UPDATE shop.customers SET shop = NULL WHERE id = 5;
    UPDATE shop.customers SET shop = 'north' WHERE id = 6`);

  const report = await shop.run();

  expect(report).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: 6, accepted: 3, deadLettered: 3 },
  });
  expect(await deadLetters(shop)).toEqual(['4', '5', '6'].map((id) => ['customers', id, 'tenant_unknown']));
  expect(await shop.stored('customer', '1', 'north')).not.toBeNull();
  for (const id of ['2', '3']) {
    expect(await shop.stored('customer', id, 'south')).not.toBeNull();
    expect(await shop.stored('customer', id, 'north')).toBeNull();
  }

  // The next run reads the list anew, in the same process.
  await shop.source.query(`INSERT INTO shop.tenants VALUES ('new', 'south')`);
  await shop.backfill({ replay: {} });
  expect(await shop.stored('customer', '4', 'south')).not.toBeNull();
  expect(await deadLetters(shop)).toEqual(['5', '6'].map((id) => ['customers', id, 'tenant_unknown']));
});

it('takes the tenant from a joined table, and a whole number as its text', async () => {
  const shop = await withTenants('{ table: shop.list, value: id, tenant: platform_id }', '', {
    'customers.mapping.yaml': `schema: customer
source: { query: "SELECT c.id, c.name, s.tenant_no AS shop FROM shop.customers c JOIN shop.shops s ON s.code = c.shop" }
key: [id]
fields: { customerId: id, name: name }
`,
  });
  await shop.source.query(`CREATE TABLE shop.shops (code text PRIMARY KEY, tenant_no bigint);
    INSERT INTO shop.shops VALUES ('n', 17), ('s', 18);
    CREATE TABLE shop.list (id integer PRIMARY KEY, platform_id text NOT NULL);
    INSERT INTO shop.list VALUES (17, 'north'), (18, 'south');
    INSERT INTO shop.customers (id, shop) VALUES (1, 'n'), (2, 's')`);

  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await shop.stored('customer', '1', 'north')).not.toBeNull();
  expect(await shop.stored('customer', '2', 'south')).not.toBeNull();
  expect(await shop.stored('customer', '2', 'north')).toBeNull();
});

it.each([
  ['a value twice', TABLE, `('n', 'north'), ('n', 'south')`, 'several rows have the same code'],
  ['a value twice, from a query', QUERY, `('n', 'north'), ('n', 'north')`, 'several rows have the same code'],
  ['a value that is NULL', TABLE, `('n', 'north'), (NULL, 'south')`, 'code is NULL in a row'],
  ['a tenant that is NULL', TABLE, `('n', 'north'), ('s', NULL)`, 'platform_id is NULL in a row'],
  ['an invalid tenant id', TABLE, `('n', 'north'), ('s', 'so uth')`, 'platform_id holds what is no tenant id'],
  ['no rows', TABLE, '', 'has no rows'],
])('refuses a list with %s, before anything is sent', async (_, from, rows, says) => {
  const shop = await withTenants(from, rows === '' ? '' : `INSERT INTO shop.tenants VALUES ${rows}`);
  await fill(shop, 2);

  const failure = await failureOf(await shop.start('sync', { sync: SYNC }));

  expect(failure).toMatchObject({ type: 'tenant_list_unusable' });
  expect(failure.message).toContain(says);
  expect(shop.proxy.uploads()).toBe(0);
  const check = await runInProcess(['check', SYNC], shop.env);
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(/shop\/sync\.yaml:2:\d+ error tenant_list_unusable tenant\.from: /);
  expect(check.stdout).toContain(says);
});
