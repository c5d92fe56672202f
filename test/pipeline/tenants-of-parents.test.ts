/** Two tenants refer to parents of the same external id: one tenant's parent does not release the other's child. */
import { expect, it } from 'vitest';
import { NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop } from './shop.js';

/** The id is no key of the table, so that both tenants can have a customer 5. */
const FILES = {
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { customerId: name }
`,
};

const customer = (shop: Shop, id: number, tenant: 'n' | 's') =>
  shop.source.query(`INSERT INTO shop.customers (id, shop, name, updated_at) VALUES ($1, $2, '5', clock_timestamp())`, [
    id,
    tenant,
  ]);
const orderInBoth = (shop: Shop) =>
  shop.source.query(
    `INSERT INTO shop.orders (no, shop, customer_id, total) VALUES ('o1', 'n', 5, 1), ('o2', 's', 5, 1)`,
  );
const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [l.externalId, l.tenant, l.code]);
const sentTo = (shop: Shop, tenant: string): string[] =>
  shop.proxy.requests.filter((r) => r.upload && r.tenant === tenant).map((r) => r.path.split('/')[3]!);

it("retries the child of the tenant whose parent has arrived, and sends nothing for the other's", async () => {
  const shop = await shopForTest({ files: FILES, upload: { waitForPending: '20s' } });
  await orderInBoth(shop);
  await shop.run();
  expect(await deadLetters(shop)).toEqual([
    ['o1', 'north', 'parent_missing'],
    ['o2', 'south', 'parent_missing'],
  ]);

  await customer(shop, 1, 'n');
  shop.proxy.forget();
  await shop.run({ mappings: ['customers'] });

  expect(await deadLetters(shop)).toEqual([['o2', 'south', 'parent_missing']]);
  expect(sentTo(shop, 'north')).toEqual(['customer', 'order']);
  expect(sentTo(shop, 'south')).toEqual([]);

  await customer(shop, 2, 's');
  await shop.run({ mappings: ['customers'] });
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.stored('order', 'o2', 'south')).toMatchObject({ customerId: '5' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it.each([
  ['rejects the children at once', '0s'],
  ['keeps the children pending', '10m'],
])('fetches the parent of each tenant if the platform %s', async (_, wait) => {
  const shop = await shopForTest({ files: FILES, wait, upload: { waitForPending: '30s' } });
  await customer(shop, 1, 'n');
  await customer(shop, 2, 's');
  await orderInBoth(shop);

  expect(await shop.run({ mappings: ['orders'] })).toMatchObject({ outcome: 'complete', total: { accepted: 4 } });

  for (const tenant of ['north', 'south']) {
    expect(sentTo(shop, tenant).filter((schema) => schema === 'customer')).toHaveLength(1);
    expect(await shop.stored('customer', '5', tenant)).not.toBeNull();
  }
  expect(await shop.stored('order', 'o1', 'north')).toMatchObject({ customerId: '5' });
  expect(await shop.stored('order', 'o2', 'south')).toMatchObject({ customerId: '5' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('says for each tenant why its parent does not come', async () => {
  const shop = await shopForTest({ files: FILES, wait: '10m', upload: { waitForPending: '1s' } });
  await customer(shop, 1, 'n');
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`DELETE FROM shop.customers`);
  await orderInBoth(shop);

  expect(await shop.run({ mappings: ['orders'] })).toMatchObject({
    outcome: 'incomplete',
    total: { accepted: 1, waiting: 1 },
  });

  expect(await shop.state.query('SELECT external_id, reason FROM partner_sync.waiting')).toEqual([
    { external_id: 'o2', reason: 'parent_missing' },
  ]);
});
