/** A partner's table changes between two runs: because of what the mapping reads, it is skipped with its children, and nothing else. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import type { RunReport } from '../../src/domain/run/run.js';
import { failureOf, fill, openEnds, NO_OPEN_ENDS, shopForTest, SYNC, type Shop } from './shop.js';

/** A shop with two tables that do not refer to customers, beside those that do. */
async function shopWithProducts(): Promise<Shop> {
  const shop = await shopForTest({
    files: {
      'products.mapping.yaml':
        'schema: product\nsource: { table: shop.products }\nkey: [id]\nfields: { productId: id, name: name }\n',
      'product.schema.json': JSON.stringify({
        name: 'product',
        category: 'custom_schema',
        externalIdField: 'productId',
        schema: {
          type: 'object',
          properties: { productId: { type: 'string' }, name: { type: 'string' } },
          required: ['productId'],
        },
      }),
    },
  });
  await shop.source
    .query(`CREATE TABLE shop.products (id integer PRIMARY KEY, shop text NOT NULL DEFAULT 'n', name varchar(20));
    INSERT INTO shop.products VALUES (1, 'n', 'tea')`);
  await fill(shop, 2);
  return shop;
}

const namesOf = (report: RunReport) =>
  report.mappings
    .filter((m) => m.read > 0)
    .map((m) => m.mapping)
    .sort();

it('skips a mapping whose column is gone and those that refer to it, but no others', async () => {
  const shop = await shopWithProducts();
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 7 } });
  await shop.source.query(
    `ALTER TABLE shop.customers RENAME COLUMN email TO mail; INSERT INTO shop.products VALUES (2, 'n', 'salt')`,
  );
  const { code, stdout } = await runInProcess(['run', SYNC], shop.env);
  expect(code).toBe(1);
  expect(stdout).toContain('INCOMPLETE');
  expect(stdout).toContain(
    'customers: source_changed: shop.customers: the column email (text) is gone; the column mail (text) is new',
  );
  expect(stdout).toContain('orders: source_changed: it refers to customers, which was skipped');
  expect(stdout).toContain('lines: source_changed: it refers to orders, which was skipped');
  expect(stdout).toMatch(/products +2 +1 +1 +0 +0/);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

  // The mapping is corrected: nothing has to be accepted, as no type is another one.
  shop.write(
    'customers.mapping.yaml',
    'schema: customer\nsource: { table: shop.customers }\nkey: [id]\nfields: { customerId: id, name: name, email: mail }\n',
  );
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
});

it('skips a mapping for a changed type until it is accepted, but not for a longer text', async () => {
  const shop = await shopWithProducts();
  await shop.run();
  await shop.source.query(
    `ALTER TABLE shop.products ALTER name TYPE varchar(99); ALTER TABLE shop.customers ALTER status TYPE integer USING 1`,
  );
  const report = await shop.run();
  expect(report.skipped).toMatchObject([
    { mapping: 'customers', message: 'shop.customers: status was text and is now integer' },
    { mapping: 'orders' },
    { mapping: 'lines' },
  ]);
  expect(report.notes).toEqual([
    {
      mapping: 'products',
      message: 'shop.products: name was character varying(20) and is now character varying(99)',
    },
  ]);
  expect(namesOf(report)).toEqual(['products']);
  // It stays so, however often it is tried, until it is said to be right.
  expect((await shop.run()).skipped).toHaveLength(3);
  await shop.source.query(`UPDATE shop.customers SET updated_at = now()`);
  const accepted = await shop.run({ acceptChanges: true });
  expect(accepted.skipped).toBeUndefined();
  expect(namesOf(accepted)).toContain('customers');
  expect((await shop.run()).skipped).toBeUndefined();
});

it('reports a new column once, and an unread column that is gone', async () => {
  const shop = await shopWithProducts();
  await shop.run();
  await shop.source.query('ALTER TABLE shop.products ADD colour text');
  const report = await shop.run();
  expect(report).toMatchObject({
    outcome: 'complete',
    notes: [{ mapping: 'products', message: 'shop.products: the column colour (text) is new' }],
  });
  await shop.source.query('ALTER TABLE shop.products DROP colour');
  expect((await shop.run()).notes).toMatchObject([{ message: 'shop.products: the column colour (text) is gone' }]);
  expect((await shop.run()).notes).toBeUndefined();
});

it('skips a mapping whose table is gone, on its first run too', async () => {
  const shop = await shopWithProducts();
  await shop.source.query('DROP TABLE shop.products');
  const report = await shop.run();
  expect(report).toMatchObject({ outcome: 'incomplete', total: { read: 6, accepted: 6 } });
  expect(report.skipped).toMatchObject([{ mapping: 'products', code: 'source_changed', message: /42P01/ }]);
});

it('does not mistake a wrong password for a change of every table', async () => {
  const shop = await shopForTest();
  shop.write(
    'sync.yaml',
    `source: { connection: 'postgres://nobody:wrong@${new URL(shop.source.url).host}/nowhere' }\ntenant: north\n`,
  );
  expect(await failureOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ type: 'config_invalid' });
});
