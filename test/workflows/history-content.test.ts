/** Temporal's history contains no row, no secret and little text. */
import { expect, it } from 'vitest';
import { fill, reportOf, shopForTest } from '../pipeline/shop.js';
import { readable, toKeep } from './histories.js';

it('contains no row data and no secret, whatever went wrong', async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '1s' } });
  await fill(shop, 500);
  await shop.source.query(
    `UPDATE shop.customers SET id = 9000000 + id, name = 'Canary-Name', email = 'canary@example.org' WHERE id < 400`,
  );
  await shop.source.query(`UPDATE shop.customers SET email = 'canary-broken' WHERE id > 9000300`);
  await shop.source.query(`UPDATE shop.customers SET status = 'canary-status', shop = 'canary-shop' WHERE id < 450`);
  await shop.source.query(`UPDATE shop.orders SET no = 'canary-order-' || no WHERE customer_id < 100`);
  shop.proxy.fail(({ upload, no }) => (upload && no % 2 === 0 ? { forward: true, answer: 'cut' } : undefined));
  const handle = await shop.start('sync', { sync: 'shop' });
  await reportOf(handle);

  const history = readable(toKeep(await handle.fetchHistory()));

  expect(history.includes('"outcome":"incomplete"')).toBe(true);
  const secrets = [
    /canary/i,
    /(?<!\d)90000\d\d(?!\d)/,
    /example\.org/,
    /postgres(ql)?:/,
    new RegExp(shop.token),
    /Customer \d/,
  ];
  expect(secrets.filter((secret) => secret.test(history))).toEqual([]);
  expect(history.length).toBeLessThan(100_000);
});
