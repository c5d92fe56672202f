/** Children that the platform rejects at once because their parents are missing: parents are fetched, and children retried. */
import { expect, it } from 'vitest';
import { idsIn } from './platform-proxy.js';
import { filesOf } from './shop-files.js';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop, UNSURE_CUSTOMERS } from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    l.mapping,
    l.externalId,
    l.code,
  ]);
const waiting = (shop: Shop) =>
  shop.state.query<{ reason: string; tries: number; seconds: number }>(
    `SELECT reason, tries, round(extract(epoch FROM due_at - now()))::int AS seconds FROM partner_sync.waiting`,
  );
const order = (shop: Shop, no: string, customer: number) =>
  shop.source.query('INSERT INTO shop.orders (no, customer_id, total) VALUES ($1, $2, 1)', [no, customer]);

it('retries a child that was rejected at once, in the run that delivers its parent', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '20s' } });
  await order(shop, 'early', 999);

  expect(await shop.run()).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: 1, accepted: 0, waiting: 0, deadLettered: 1 },
  });
  expect(await deadLetters(shop)).toEqual([['orders', 'early', 'parent_missing']]);

  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (999, 'Late', 'A', clock_timestamp())`,
  );
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await shop.stored('order', 'early')).toMatchObject({ customerId: '999' });
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.differences()).toBe(0);
});

it('fetches every generation of parents, even if the platform waits for none of them', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '30s' } });
  await fill(shop, 25);

  const report = await shop.run({ mappings: ['lines'] });

  expect(report.outcome).toBe('complete');
  expect(report.mappings.map((m) => [m.mapping, m.read, m.accepted])).toEqual(
    expect.arrayContaining([
      ['lines', 25, 25],
      ['orders', 25, 25],
      ['customers', 25, 25],
    ]),
  );
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('sends a child again whose parent another run delivered before anybody asked what became of the child', async () => {
  const settings = { upload: { waitForPending: '20s' } };
  const own = filesOf(settings)['order.schema.json']!;
  // The platform's schema definition is stricter than ours: the second order is wrong, with and without its parent.
  const platforms = own.replace('"type":"number"', '"type":"number","maximum":2');
  const shop = await shopForTest({ ...settings, files: { 'order.schema.json': platforms } });
  shop.write('order.schema.json', own);
  await fill(shop, 2);
  await shop.source.query('DELETE FROM shop.lines');
  let ofChild: string | undefined;
  let isParentThere = false;
  shop.proxy.fail(({ path }) => {
    if (isParentThere || !path.startsWith('/api/batches/') || path !== (ofChild ??= path)) return undefined;
    return { forward: false, answer: { status: 404, body: '{"success":false,"message":"not visible yet"}' } };
  });

  const children = shop.backfill({ mappings: ['orders'] });
  await expect.poll(() => ofChild, { timeout: 60_000 }).toBeDefined();
  expect((await shop.backfill({ mappings: ['customers'] })).outcome).toBe('complete');
  isParentThere = true;

  expect(await children).toMatchObject({ total: { accepted: 1, waiting: 0, deadLettered: 1 } });
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '1' });
  expect(await deadLetters(shop)).toEqual([['orders', 'o2', 'platform_refused']]);
  const uploads = shop.proxy.requests.filter((r) => r.upload && r.path.startsWith('/api/resources/order/'));
  expect(uploads.map((upload) => idsIn(upload, 'orderId'))).toEqual([
    ['o1', 'o2'],
    ['o1', 'o2'],
  ]);
});

it("reports the platform's message about a child if it is not about its missing parent", async () => {
  const shop = await shopForTest({ upload: { waitForPending: '5s' } });
  await order(shop, 'o1', 7);
  const otherWords = (body: string): string =>
    body.replace(/missing dependency customer \\"7\\"/, '/total is too large');
  shop.proxy.fail((request) =>
    request.path.startsWith('/api/batches/')
      ? { forward: true, answer: (own) => ({ ...own, body: otherWords(own.body) }) }
      : undefined,
  );

  await shop.run({ mappings: ['orders'] });

  expect(await deadLetters(shop)).toEqual([['orders', 'o1', 'parent_missing']]);
  const [deadLetter] = await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 1);
  expect(deadLetter!.reason).toBe(
    'refers to a parent that is not in the source; the platform said: /total is too large',
  );
  expect(deadLetter!.missing).toEqual([{ schemaName: 'customer', externalId: '7' }]);
});

it.each([
  ['is missing', {}, 'parent_missing'],
  ['may have another id', UNSURE_CUSTOMERS, 'parent_unknown'],
])('gives up a child whose parent %s even if each run reads its row again', async (_, files, code) => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' }, files });
  // The last row in the order of reading: an incremental run begins with it.
  await order(shop, 'o1', 7);
  await shop.run();
  // As if it had been sent twice more: now it is due later than the run ends that finds it dropped.
  await shop.state.query('UPDATE partner_sync.waiting SET tries = tries + 2');
  for (let runs = 0; runs < 12 && (await waiting(shop)).length > 0; runs++) {
    await expirePending(shop);
    await shop.run();
  }

  expect(await deadLetters(shop)).toEqual([['orders', 'o1', code]]);
  expect(shop.proxy.uploads()).toBeLessThanOrEqual(7);
});

it.each([
  ['rejects it at once', '0s'],
  ['lets its wait expire', '10m'],
])('retries a child without its parent with growing delays, then gives up, if the platform %s', async (_, wait) => {
  const shop = await shopForTest({ wait, upload: { waitForPending: '1s' }, files: UNSURE_CUSTOMERS });
  await order(shop, 'o1', 7);
  // Behind it in the order of reading, so that no run reads the child's row again.
  await shop.source.query(`INSERT INTO shop.orders (no, total, updated_at) VALUES ('o2', 1, now() + interval '1 ms')`);
  await shop.run();
  // As if it had been sent twice more.
  await shop.state.query('UPDATE partner_sync.waiting SET tries = tries + 2');
  const pauses: number[] = [];
  while ((await waiting(shop)).length > 0) {
    await expirePending(shop);
    // The wait of the platform is over, and so is ours.
    await shop.state.query('UPDATE partner_sync.waiting SET due_at = now() WHERE batch_id IS NULL');
    await shop.run();
    await expirePending(shop);
    await shop.run();
    const [row] = await waiting(shop);
    if (row !== undefined) pauses.push(row.seconds);
  }

  expect(await deadLetters(shop)).toEqual([['orders', 'o1', 'parent_unknown']]);
  expect(pauses.length).toBeGreaterThan(1);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  expect(shop.proxy.uploads()).toBeLessThanOrEqual(7);

  shop.proxy.forget();
  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
  expect(shop.proxy.uploads()).toBe(0);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, ' 7 ', 'A')`);
  await shop.run({ mappings: ['customers'] });
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '7' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
