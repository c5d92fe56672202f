/** Rows that are deleted: marked in a column, or gone. */
import { expect, it } from 'vitest';
import { fill, shopForTest, type Shop } from './shop.js';

const MARKED = `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes:
  column: status
  values: [X]
  action: { set: { status: deleted }, clear: [email] }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] }
`;

const mark = (shop: Shop, id: number, status: string): Promise<unknown> =>
  shop.source.query('UPDATE shop.customers SET status = $2, updated_at = clock_timestamp() WHERE id = $1', [
    id,
    status,
  ]);

it.each([
  ['with a cursor', MARKED],
  ['without a cursor, where each run reads every row', MARKED.replace(/^cursor: .*\n/m, '')],
])(
  "marks the record of a row that was marked as deleted, keeps its other fields, and removes the mark with the row's (%s)",
  async (_how, mapping) => {
    const shop = await shopForTest({ files: { 'customers.mapping.yaml': mapping } });
    await fill(shop, 3);
    await shop.run({ mappings: ['customers'] });

    await mark(shop, 2, 'X');
    const report = await shop.run({ mappings: ['customers'] });

    expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 1 } });
    expect(await shop.stored('customer', '2')).toEqual({ customerId: '2', name: 'Customer 2', status: 'deleted' });
    expect(await shop.reconcile('customers')).toMatchObject({ rows: 3, equal: 3, extra: 0 });

    await mark(shop, 2, 'A');
    await shop.run({ mappings: ['customers'] });
    expect(await shop.stored('customer', '2')).toEqual({
      customerId: '2',
      name: 'Customer 2',
      email: 'c2@example.org',
      status: 'active',
    });
  },
);

it('sends nothing for a row that was deleted before it was ever delivered', async () => {
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': MARKED } });
  await fill(shop, 3);
  await mark(shop, 2, 'X');

  const report = await shop.run({ mappings: ['customers'] });

  expect(report).toMatchObject({ outcome: 'complete', total: { read: 3, accepted: 2, unchanged: 1 } });
  expect(await shop.stored('customer', '2')).toBeNull();
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 3, equal: 3, missing: 0 });
});

it('leaves the record of a deleted row unchanged if deleted rows are ignored', async () => {
  const ignoring = MARKED.replace(/action: .*/, 'action: ignore');
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': ignoring } });
  await fill(shop, 2);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`UPDATE shop.customers SET name = 'Deleted' WHERE id = 2`);
  await mark(shop, 2, 'X');
  shop.proxy.forget();

  const { total } = await shop.run({ mappings: ['customers'] });
  expect(total.unchanged).toBe(total.read);
  expect(shop.proxy.uploads()).toBe(0);
  expect(await shop.stored('customer', '2')).toMatchObject({ name: 'Customer 2', status: 'active' });
});
