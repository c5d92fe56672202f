/** Pending records whose `expiresAt` has passed, on a platform that no longer reports their outcome. */
import { expect, it } from 'vitest';
import { idsIn } from './platform-proxy.js';
import { expirePending, NO_OPEN_ENDS, openEnds, shopForTest, type Shop } from './shop.js';

/** The platform holds an order whose customer is not there; from then on it knows nothing of the batch. */
async function heldAndForgotten(): Promise<Shop> {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o1', 999, 1)`);
  expect(await shop.run({ mappings: ['orders'] })).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  const [batch] = await shop.state.query<{ id: string }>(
    `SELECT platform_batch_id AS id FROM partner_sync.batches WHERE state = 'pending'`,
  );
  const unknown = { status: 404, body: JSON.stringify({ success: false, message: 'no such batch' }) };
  shop.proxy.forget();
  shop.proxy.fail(({ path }) => (path.includes(batch!.id) ? { forward: false, answer: unknown } : undefined));
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (999, 'Late', 'A', clock_timestamp())`,
  );
  return shop;
}

const ordersSent = (shop: Shop): string[] =>
  shop.proxy.requests.filter((r) => r.upload && r.path.includes('/order/')).flatMap((r) => idsIn(r, 'orderId'));

it('sends a pending record again after its expiresAt has passed', async () => {
  const shop = await heldAndForgotten();
  await expirePending(shop);
  await shop.state.query(
    `UPDATE partner_sync.waiting SET expires_at = expires_at - interval '12 minutes', due_at = due_at - interval '12 minutes'`,
  );

  // No run reads its row anew: it comes back by itself.
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');

  expect(ordersSent(shop)).toEqual(['o1']);
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '999' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('does not send a pending record again before its expiresAt', async () => {
  const shop = await heldAndForgotten();

  await shop.run({ mappings: ['customers'] });

  expect(ordersSent(shop)).toEqual([]);
  expect(await openEnds(shop)).toMatchObject({ batches: 1, waiting: 1 });
});
