/** The range of a backfill: bounds of the cursor as people write them. */
import { expect, it } from 'vitest';
import { failureOf, fill, shopForTest } from './shop.js';

it('is what has changed between two times, in whichever zone these are written', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.source.query(
    `UPDATE shop.customers SET updated_at = timestamptz '2026-01-31 08:30:00+00' + id * interval '1 hour'`,
  );
  const backfilled = async (from: string, to: string) =>
    (await shop.backfill({ mappings: ['customers'], from, to })).total;

  expect(await backfilled('2026-01-31T10:30:00Z', '2026-01-31T12:30:00Z')).toMatchObject({ read: 2, accepted: 2 });
  expect(await backfilled('2026-01-31 05:30-05:00', '2026-01-31 07:30-05:00')).toMatchObject({ read: 2, unchanged: 2 });
  const counter = await shop.start('backfill', { sync: 'shop', mappings: ['customers'], from: '0x07D1' });
  expect((await failureOf(counter)).message).toContain(
    '"from" does not fit the cursor updated_at of mapping customers, which is timestamp with time zone',
  );
});
