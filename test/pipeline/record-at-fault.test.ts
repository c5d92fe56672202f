/** Records at which the platform fails whenever they are sent must not keep others of their mapping from being delivered. */
import { expect, it } from 'vitest';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest } from './shop.js';

it('wait, while all others are delivered, and are delivered once the platform is mended', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '1s', inDoubtDelay: '1s' } });
  await fill(shop, 40);
  // Of these it does not even show whether it has them.
  const answer = { status: 500, body: '{"success":false,"message":"null pointer"}' };
  shop.proxy.fail(({ upload, path, body }) =>
    (upload ? /"customerId":"[789]"/.test(body) : /\/customer\/[789]\b/.test(path))
      ? { forward: false, answer }
      : undefined,
  );
  const runCustomers = () => shop.run({ mappings: ['customers'] });
  const waiting = () =>
    shop.state.query('SELECT external_id, reason, rejection FROM partner_sync.waiting ORDER BY external_id');
  const makeDue = () => shop.state.query('UPDATE partner_sync.waiting SET due_at = now()');

  expect(await runCustomers()).toMatchObject({ outcome: 'incomplete', total: { accepted: 37, waiting: 3 } });
  const rejection: unknown = expect.stringContaining('returned 500; null pointer');
  const all = ['7', '8', '9'].map((id) => ({ external_id: id, reason: 'unknown', rejection }));
  expect(await waiting()).toEqual(all);

  // Nothing else is sent beside them, by which one could tell that the platform works: neither when they are read again in
  // the overlap, nor when they are due.
  await makeDue();
  expect(await runCustomers()).toMatchObject({ outcome: 'incomplete', total: { deadLettered: 0 } });
  expect(await waiting()).toEqual(all);

  shop.proxy.fail(undefined);
  await makeDue();
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
