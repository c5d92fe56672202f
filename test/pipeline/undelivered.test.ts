/** The outcome of a run covers everything that its mappings have not delivered, from any run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { reportLines } from '../../src/cli/output/report-lines.js';
import {
  eventually,
  expirePending,
  NO_OPEN_ENDS,
  openEnds,
  shopForTest,
  SYNC,
  type Shop,
  UNSURE_CUSTOMERS,
} from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [l.externalId, l.code]);
/** An order without its customer, and a later one behind which the next incremental runs begin. */
async function childBehindThePosition(shop: Shop): Promise<void> {
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 999, 1)`);
  await shop.source.query(
    `INSERT INTO shop.orders (no, total, updated_at) VALUES ('later', 1, now() + interval '1 ms')`,
  );
}
const itsCustomer = (shop: Shop) =>
  shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (999, 'Late', 'A', clock_timestamp())`,
  );

it('is incomplete while a record of an earlier run is pending, and says so', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await childBehindThePosition(shop);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { read: 2, waiting: 1 } });

  const second = await shop.run();

  expect(second).toMatchObject({ outcome: 'incomplete', total: { waiting: 0 } });
  expect(reportLines(second).join('\n')).toContain('orders: 1 record from earlier runs waits.');
  // The outcome of a mapping that has delivered everything does not depend on the others.
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
});

it.each([
  ['with the known message', undefined],
  [
    'with a message of its own',
    (body: string) => body.replace(/"recordErrors":\[[^\]]*\]/, '"recordErrors":["Resource \'x9\': timed out"]'),
  ],
  ['without a message', (body: string) => body.replace(/"errors":\{.*?\},"pending/, '"errors":null,"pending')],
])('gives up a child once the platform has dropped it %s, and retries it with its parent', async (_, reword) => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  if (reword !== undefined)
    shop.proxy.fail(({ path }) =>
      path.startsWith('/api/batches/')
        ? { forward: true, answer: (own) => ({ ...own, body: reword(own.body) }) }
        : undefined,
    );
  await childBehindThePosition(shop);
  await shop.run();
  await expirePending(shop);
  shop.proxy.forget();

  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');

  expect(await deadLetters(shop)).toEqual([['orphan', 'parent_missing']]);
  expect(shop.proxy.uploads()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  // It stays undelivered, and no run forgets it.
  const third = await shop.run();
  expect(third.outcome).toBe('complete_with_dead_letters');
  expect(reportLines(third).join('\n')).toContain('orders: 1 record from earlier runs is a dead letter');

  await itsCustomer(shop);
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await shop.stored('order', 'orphan')).toMatchObject({ customerId: '999' });
  expect(await deadLetters(shop)).toEqual([]);
});

it('gives up a record that the platform lists as pending forever, once its time is over', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await childBehindThePosition(shop);
  await shop.run();
  await shop.state.query(`UPDATE partner_sync.waiting SET due_at = now()`);

  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
  expect(await deadLetters(shop)).toEqual([['orphan', 'parent_missing']]);
});

it('does not send a child again that was given up, until its parent exists or its row refers to another one', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await childBehindThePosition(shop);
  await shop.run();
  await expirePending(shop);
  await shop.run();
  shop.proxy.forget();

  for (const mode of ['full', 'incremental', 'full'] as const)
    expect((await shop.run({ mode })).outcome).toBe('complete_with_dead_letters');
  expect(shop.proxy.uploads()).toBe(0);
  expect(await deadLetters(shop)).toEqual([['orphan', 'parent_missing']]);

  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, 'Right', 'A')`);
  await shop.source.query(`UPDATE shop.orders SET customer_id = 1, updated_at = clock_timestamp() WHERE no = 'orphan'`);
  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  expect(await shop.stored('order', 'orphan')).toMatchObject({ customerId: '1' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('reports in a backfill only on the requested rows, whatever else waits', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await childBehindThePosition(shop);
  await shop.run();

  expect((await shop.backfill({ mapping: 'orders', externalIds: ['later'] })).outcome).toBe('complete');
  expect((await shop.backfill({ mapping: 'orders', externalIds: ['orphan'] })).outcome).toBe('incomplete');
});

it('says while it waits how many records need which parents, and until when', async () => {
  const shop = await shopForTest({
    wait: '10m',
    upload: { waitForPending: '60s' },
    files: UNSURE_CUSTOMERS,
  });
  await childBehindThePosition(shop);
  const run = await shop.start('sync', { sync: SYNC });

  const waits = await eventually('the run says what it waits for', async () => {
    const progress = await run.query<{ waits: object[] }>('progress').catch(() => undefined);
    return progress !== undefined && progress.waits.length > 0 && progress.waits;
  });

  expect(waits).toEqual([
    { mapping: 'orders', records: 1, parents: ['customer'], until: expect.stringMatching(/^\d{4}-.*Z$/) as string },
  ]);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, ' 999 ', 'A')`);
  await shop.backfill({ mappings: ['customers'] });
  expect(await run.result()).toMatchObject({ outcome: 'complete' });
});

it('keeps a record waiting until its row can be looked for, if the key of the mapping has changed meanwhile', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await childBehindThePosition(shop);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  await expirePending(shop);
  await itsCustomer(shop);
  const file = join(shop.folder, SYNC, 'orders.mapping.yaml');
  const replace = (old: string, replacement: string): void =>
    writeFileSync(file, readFileSync(file, 'utf8').replace(old, replacement));

  // The row can neither be found by its former key, nor by an external id that is made from several columns.
  replace('key: [no]', 'key: [shop, no]');
  replace('orderId: no', 'orderId: { coalesce: [no, shop] }');
  expect((await shop.run()).outcome).toBe('incomplete');

  replace('orderId: { coalesce: [no, shop] }', 'orderId: no');
  const { source } = await shop.parts.openSync(SYNC);
  const readByValues = source.readByValues.bind(source);
  const lookUp = vi
    .spyOn(source, 'readByValues')
    .mockImplementation((plan, columns, values) =>
      columns.join() === 'no'
        ? Promise.reject(new PartnerSyncError('source_query_failed', 'timeout', { timedOut: true }))
        : readByValues(plan, columns, values),
    );
  try {
    expect((await shop.run()).outcome).toBe('incomplete');
    expect(lookUp).toHaveBeenCalled();
  } finally {
    lookUp.mockRestore();
  }

  // The parent is there, so it is due again at once.
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.stored('order', 'orphan')).toMatchObject({ total: 1 });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
