/** Missing parents are fetched from the source, not waited for; those that cannot come have a name each. */
import { expect, it } from 'vitest';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, type Shop, UNSURE_CUSTOMERS } from './shop.js';

const letters = async (shop: Shop) =>
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

it('fetches missing parents from the source, and the children complete by themselves', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { followFor: '60s' } });
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

it('delivers grandchildren whose every level arrives in the wrong order', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { followFor: '60s' } });
  await fill(shop, 25);

  const report = await shop.run({ mappings: ['lines'] });

  expect(report.outcome).toBe('complete');
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('gives each parent that will not come a name: in the waiting records first, in dead letters when the wait is over', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { followFor: '1s' } });
  await fill(shop, 5);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 2`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 3`);
  await shop.source.query('DELETE FROM shop.lines');
  await order(shop, 'orphan', 4711);

  const first = await shop.run();

  expect(first).toMatchObject({ outcome: 'incomplete', total: { waiting: 2, deadLettered: 2 } });
  expect(await letters(shop)).toEqual([
    ['customers', '2', 'record_invalid', '/email'],
    ['orders', 'o2', 'parent_rejected', '/customerId'],
  ]);
  expect(await reasons(shop)).toEqual([
    { external_id: 'o3', reason: 'parent_in_other_tenant' },
    { external_id: 'orphan', reason: 'parent_missing' },
  ]);

  await expirePending(shop);
  await shop.run();
  expect(await letters(shop)).toEqual([
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
  expect(await letters(shop)).toEqual([['orders', 'o3', 'parent_in_other_tenant', '/customerId']]);
  expect(await shop.stored('order', 'orphan')).toMatchObject({ customerId: '4711' });
});

it('says that the query of a mapping leaves the parent out', async () => {
  const customers = `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE name <> 'Filtered'" }
key: [id]
fields: { customerId: id, name: name }
`;
  const shop = await shopForTest({
    wait: '10m',
    upload: { followFor: '1s' },
    files: { 'customers.mapping.yaml': customers },
  });
  await fill(shop, 3);
  await shop.source.query(`UPDATE shop.customers SET name = 'Filtered' WHERE id = 2; DELETE FROM shop.lines`);

  await shop.run();
  await expirePending(shop);
  await shop.run();

  expect(await letters(shop)).toEqual([['orders', 'o2', 'parent_filtered', '/customerId']]);
});

it('gives a child up that expires again and again, and sends it when its parent is there', async () => {
  const shop = await shopForTest({
    wait: '10m',
    upload: { followFor: '1s' },
    files: UNSURE_CUSTOMERS,
  });
  await order(shop, 'o1', 7);
  expect((await shop.run()).outcome).toBe('incomplete');
  await expirePending(shop);
  // As if it had been sent five times.
  await shop.state.query('UPDATE partner_sync.waiting SET tries = 5');
  await shop.run();
  await shop.state.query(`UPDATE partner_sync.waiting SET due_at = now() WHERE reason = 'expired'`);
  shop.proxy.forget();

  expect((await shop.backfill({ mapping: 'orders', externalIds: ['none'] })).outcome).toBe('complete');

  expect(shop.proxy.uploads()).toBe(0);
  expect(await letters(shop)).toEqual([['orders', 'o1', 'parent_unknown', '/customerId']]);

  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, ' 7 ', 'A')`);
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await letters(shop)).toEqual([]);
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '7' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
