/** Missing parents are fetched from the source instead of waited for; each one that cannot come is named. */
import { expect, it } from 'vitest';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, type Shop, UNSURE_CUSTOMERS } from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page('shop', {}, '0', 100)).map((l) => [
    l.mapping,
    l.externalId,
    l.code,
    l.pointer,
  ]);
const reasons = (shop: Shop) =>
  shop.state.query<{ external_id: string; reason: string }>(
    'SELECT external_id, reason FROM partner_sync.waiting ORDER BY 1',
  );
const order = (shop: Shop, no: string, customer: number) =>
  shop.source.query('INSERT INTO shop.orders (no, customer_id, total) VALUES ($1, $2, 1)', [no, customer]);

it('fetches missing parents from the source, and the children complete automatically', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '60s' } });
  await fill(shop, 40);

  const report = await shop.run({ mappings: ['orders'] });

  expect(report.outcome).toBe('complete');
  expect(report.mappings).toMatchObject([
    { mapping: 'orders', read: 40, accepted: 40 },
    { mapping: 'customers', read: 40, accepted: 40 },
  ]);
  expect(await shop.stored('order', 'o7')).toMatchObject({ customerId: '7' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('delivers grandchildren even if every level arrives in the wrong order', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '60s' } });
  await fill(shop, 25);

  const report = await shop.run({ mappings: ['lines'] });

  expect(report.outcome).toBe('complete');
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('names each parent that will not come, first with the waiting records, then in dead letters', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await fill(shop, 5);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 2`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 3`);
  await shop.source.query('DELETE FROM shop.lines');
  await order(shop, 'orphan', 4711);

  const first = await shop.run();

  expect(first).toMatchObject({ outcome: 'incomplete', total: { waiting: 2, deadLettered: 2 } });
  expect(await deadLetters(shop)).toEqual([
    ['customers', '2', 'record_invalid', '/email'],
    ['orders', 'o2', 'parent_rejected', '/customerId'],
  ]);
  expect(await reasons(shop)).toEqual([
    { external_id: 'o3', reason: 'parent_in_other_tenant' },
    { external_id: 'orphan', reason: 'parent_missing' },
  ]);

  await expirePending(shop);
  await shop.run();
  expect(await deadLetters(shop)).toEqual([
    ['customers', '2', 'record_invalid', '/email'],
    ['orders', 'o2', 'parent_rejected', '/customerId'],
    ['orders', 'o3', 'parent_in_other_tenant', '/customerId'],
    ['orders', 'orphan', 'parent_missing', '/customerId'],
  ]);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

  // Mended parents bring their children with them, whichever run delivers them.
  await shop.source.query(`UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 2`);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (4711, 'Late', 'A', clock_timestamp())`,
  );
  await shop.run({ mappings: ['customers'] });
  expect(await deadLetters(shop)).toEqual([['orders', 'o3', 'parent_in_other_tenant', '/customerId']]);
  expect(await shop.stored('order', 'orphan')).toMatchObject({ customerId: '4711' });
});

it('says that the query of a mapping excludes the parent', async () => {
  const customers = `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE name <> 'Filtered'" }
key: [id]
fields: { customerId: id, name: name }
`;
  const shop = await shopForTest({
    wait: '10m',
    upload: { waitForPending: '1s' },
    files: { 'customers.mapping.yaml': customers },
  });
  await fill(shop, 3);
  await shop.source.query(`UPDATE shop.customers SET name = 'Filtered' WHERE id = 2; DELETE FROM shop.lines`);

  await shop.run();
  await expirePending(shop);
  await shop.run();

  expect(await deadLetters(shop)).toEqual([['orders', 'o2', 'parent_filtered', '/customerId']]);
});

it('gives up a child that expires repeatedly, and sends it once its parent exists', async () => {
  const shop = await shopForTest({
    wait: '10m',
    upload: { waitForPending: '1s' },
    files: UNSURE_CUSTOMERS,
  });
  await order(shop, 'o1', 7);
  expect((await shop.run()).outcome).toBe('incomplete');
  await expirePending(shop);
  // As if it had been sent five times.
  await shop.state.query('UPDATE partner_sync.waiting SET tries = 5');
  await shop.run();
  await shop.state.query(`UPDATE partner_sync.waiting SET due_at = now() WHERE reason = 'lacks_parent'`);
  shop.proxy.forget();

  expect((await shop.backfill({ mapping: 'orders', externalIds: ['none'] })).outcome).toBe('complete');

  expect(shop.proxy.uploads()).toBe(0);
  expect(await deadLetters(shop)).toEqual([['orders', 'o1', 'parent_unknown', '/customerId']]);

  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, ' 7 ', 'A')`);
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '7' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
