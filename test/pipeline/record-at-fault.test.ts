/** A record at which the platform fails whenever it is sent must not keep all others of its mapping from being delivered. */
import { expect, it } from 'vitest';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest } from './shop.js';

it('waits, while all others are delivered, and is delivered once the platform is mended', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '1s', inDoubtDelay: '1s' } });
  await fill(shop, 40);
  shop.proxy.fail(({ upload, body }) =>
    upload && body.includes('"customerId":"7"')
      ? { forward: false, answer: { status: 500, body: '{"success":false,"message":"null pointer"}' } }
      : undefined,
  );
  const runCustomers = () => shop.run({ mappings: ['customers'] });
  const waiting = () => shop.state.query('SELECT external_id, reason, rejection FROM partner_sync.waiting');
  const makeDue = () => shop.state.query('UPDATE partner_sync.waiting SET due_at = now()');

  expect(await runCustomers()).toMatchObject({ outcome: 'incomplete', total: { accepted: 39, waiting: 1 } });
  const rejection: unknown = expect.stringContaining('returned 500; null pointer');
  expect(await waiting()).toEqual([{ external_id: '7', reason: 'unknown', rejection }]);

  // Nothing else is sent beside it, by which one could tell that the platform works.
  await makeDue();
  expect(await runCustomers()).toMatchObject({ outcome: 'incomplete', total: { deadLettered: 0 } });
  expect(await waiting()).toMatchObject([{ external_id: '7' }]);

  shop.proxy.fail(undefined);
  await makeDue();
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
}, 180_000);
