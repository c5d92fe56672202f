/** The connector works on a platform that differs wherever the document leaves a choice. */
import { expect, it } from 'vitest';
import type { GivenSettings } from '../../src/sandbox/settings.js';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, type Shop } from './shop.js';

/** Names, shapes, statuses and limits. */
const ANSWERS: GivenSettings = {
  fieldNames: 'snake',
  emptyFields: 'left_out',
  errorShape: 'alternative',
  statuses: { created: 201, invalid: 422, notFound: 410, tooLarge: 422, forbidden: 404 },
  longest: { errors: 0 },
  batchStatus: { completed: 'processed', processed: 'with_pending', successRate: 'percent', recordErrors: 'unnamed' },
  unknownInput: { query: 'refuse' },
  rateLimit: { requests: 20, seconds: 0.5, retryAfter: 'date' },
};
/** What becomes of uploads, and when. */
const UPLOADS: GivenSettings = {
  existing: 'answer',
  schemas: { dialect: '2020-12', formats: false, references: 'existing' },
  records: {
    merge: 'deep',
    validated: 'sent',
    repeated: 'fail',
    unknownFields: 'fail_record',
    integerIds: false,
    referencesWithinUpload: false,
  },
  pending: { countsFrom: 'processing', completed: 'at_check', newer: 'replaces' },
  batchOrder: 'newest_first',
  processingDelay: 50,
};

const CHOICES: readonly [string, GivenSettings][] = [
  ['answers', ANSWERS],
  ['what becomes of uploads', UPLOADS],
];

const orphan = (shop: Shop) =>
  shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 999, 1)`);
const itsCustomer = (shop: Shop) =>
  shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (999, 'Late', 'A', clock_timestamp())`,
  );

it.each(CHOICES)('delivers, deletes and compares on a platform with other choices about %s', async (_name, sandbox) => {
  const shop = await shopForTest({ sandbox, upload: { batchSize: 20 } });
  await fill(shop, 60);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 180, accepted: 180 } });

  await shop.source.query(`UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 8`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 1 } });
  expect(await shop.stored('customer', '8')).not.toHaveProperty('email');
  expect(await shop.run({ mode: 'full' })).toMatchObject({ outcome: 'complete', total: { unchanged: 180 } });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it.each(CHOICES)(
  'keeps a child waiting until its parent exists, on a platform with other choices about %s',
  async (_name, sandbox) => {
    const shop = await shopForTest({ sandbox, wait: '10m', upload: { waitForPending: '1s' } });
    await orphan(shop);
    expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { read: 1, waiting: 1 } });

    await itsCustomer(shop);
    expect((await shop.run()).outcome).toBe('complete');
    expect(await shop.stored('order', 'orphan')).toMatchObject({ customerId: '999' });
    expect(await shop.differences()).toBe(0);
  },
);

it('counts a record as delivered that the platform stored without its parent', async () => {
  const shop = await shopForTest({
    sandbox: { pending: { expired: 'store' } },
    wait: '10m',
    upload: { waitForPending: '1s' },
  });
  await orphan(shop);
  expect((await shop.run()).outcome).toBe('incomplete');
  await expirePending(shop);
  expect(await shop.run({ mode: 'full' })).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
