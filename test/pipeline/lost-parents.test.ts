/** The platform may lose what it had accepted; children of such parents must not wait for ever. */
import { expect, it } from 'vitest';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest } from './shop.js';

it.each(['0s', '10m'])(
  'sends a parent again that the platform has lost, and then its child (wait %s)',
  async (wait) => {
    const shop = await shopForTest({ wait, upload: { waitForPending: '30s' } });
    await fill(shop, 10);
    expect((await shop.run()).outcome).toBe('complete');
    await shop.store.query(`DELETE FROM sandbox.resources WHERE external_id = '7'`);
    expect(await shop.stored('customer', '7')).toBeNull();
    await shop.source.query(
      `INSERT INTO shop.orders (no, customer_id, total, updated_at) VALUES ('late', 7, 1, clock_timestamp())`,
    );

    expect((await shop.run()).outcome).toBe('complete');
    expect(await shop.stored('order', 'late')).toMatchObject({ customerId: '7' });
    expect(await shop.stored('customer', '7')).toMatchObject({ customerId: '7' });
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  },
);
