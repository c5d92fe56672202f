/** Children whose parents do not exist yet: they wait, are retried automatically, and are never lost. */
import { expect, it } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { eventually, expirePending, fill, NO_OPEN_ENDS, openEnds, reportOf, shopForTest, type Shop } from './shop.js';

const pendingOnPlatform = async (shop: Shop): Promise<number> =>
  (await shop.state.query<{ n: number }>('select count(*)::int as n from sandbox.pending_resources'))[0]!.n;

const waiting = (shop: Shop) =>
  shop.state.query<{ external_id: string; reason: string; missing: object[] }>(
    'SELECT external_id, reason, missing FROM partner_sync.waiting ORDER BY 1',
  );

const order = (shop: Shop, no: string, customer: number) =>
  shop.source.query(
    `INSERT INTO shop.orders (no, customer_id, total, updated_at) VALUES ($1, $2, 1, clock_timestamp())`,
    [no, customer],
  );
const customer = (shop: Shop, id: number) =>
  shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES ($1, 'Late', 'A', clock_timestamp())`,
    [id],
  );

it('keeps orders waiting until another run delivers their customers, and ends complete', async () => {
  const shop = await shopForTest({
    wait: '10m',
    upload: { waitForPending: '60s' },
    sandbox: { processingDelay: 1500 },
  });
  await fill(shop, 30);
  const customers = await shop.start('backfill', { sync: 'shop', mappings: ['customers'] });
  const orders = await shop.start('sync', { sync: 'shop', mappings: ['orders'] });

  for (const run of [customers, orders]) expect(((await run.result()) as RunReport).outcome).toBe('complete');

  expect(await pendingOnPlatform(shop)).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.stored('order', 'o7')).toMatchObject({ customerId: '7' });
  expect(await shop.stored('line', 'o7-1')).toBeNull();
});

it('ends incomplete while a parent is missing, and delivers the child in the run that delivers the parent', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await order(shop, 'early', 999);

  const first = await shop.run();

  expect(first).toMatchObject({ outcome: 'incomplete', total: { read: 1, accepted: 0, waiting: 1 } });
  expect(await waiting(shop)).toMatchObject([{ external_id: 'early', reason: 'parent_missing' }]);
  expect(await openEnds(shop)).toMatchObject({ leases: 0, waiting: 1 });

  await customer(shop, 999);
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.stored('order', 'early')).toMatchObject({ customerId: '999' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('delivers a child whose wait has expired when it is read again', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await order(shop, 'orphan', 999);
  expect((await shop.run()).outcome).toBe('incomplete');
  await expirePending(shop);

  await customer(shop, 999);
  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('delivers the newest version of a row that changed while its record was pending', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '60s' } });
  await order(shop, 'o1', 1);
  const run = await shop.start('sync', { sync: 'shop', mappings: ['orders'] });
  await eventually('the order waits', async () => (await waiting(shop)).length === 1);

  await shop.source.query(`UPDATE shop.orders SET total = 77 WHERE no = 'o1'`);
  // It reads the changed row, but must not put it into a second unfinished batch.
  const beside = await shop.start('backfill', { sync: 'shop', mapping: 'orders', externalIds: ['o1'] });
  await eventually('it is to be read again', async () => {
    const [row] = await shop.state.query<{ read_again: boolean }>('SELECT read_again FROM partner_sync.waiting');
    return row?.read_again;
  });
  await customer(shop, 1);
  await shop.backfill({ mappings: ['customers'] });
  // The first may have ended by now, as incomplete: it does not wait for a customer that the source does not have.
  await Promise.all([reportOf(run), reportOf(beside)]);

  expect(await shop.stored('order', 'o1')).toMatchObject({ total: 77 });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('lets a dead-lettered parent hold back only its own children', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await fill(shop, 5);
  await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id = 3`);

  const report = await shop.run();

  expect(report.outcome).toBe('complete_with_dead_letters');
  expect(report.mappings).toMatchObject([
    { mapping: 'customers', accepted: 4, deadLettered: 1 },
    { mapping: 'orders', accepted: 4, waiting: 0, deadLettered: 1 },
    { mapping: 'lines', accepted: 4, waiting: 0, deadLettered: 1 },
  ]);
  // Its child and grandchild were not even sent: the platform would only have held them in vain.
  expect(await pendingOnPlatform(shop)).toBe(0);

  await shop.source.query(`UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 3`);
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
