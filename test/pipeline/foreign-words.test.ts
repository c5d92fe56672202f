/** The platform's messages decide nothing: counters, pending records and the records themselves do. */
import { expect, it } from 'vitest';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop, UNSURE_CUSTOMERS } from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [l.externalId, l.code]);
const order = (shop: Shop, no: string, customer: number) =>
  shop.source.query('INSERT INTO shop.orders (no, customer_id, total) VALUES ($1, $2, 1)', [no, customer]);

/** The platform's batches, as another one would tell of them. */
function retell(shop: Shop, tell: (status: BatchStatus) => unknown): void {
  shop.proxy.fail(({ path }) =>
    path.startsWith('/api/batches/')
      ? {
          forward: true,
          answer(own) {
            const body = JSON.parse(own.body) as { data?: BatchStatus };
            if (body.data !== undefined) body.data = tell(body.data) as BatchStatus;
            return { ...own, body: JSON.stringify(body) };
          },
        }
      : undefined,
  );
}
const withErrors = (status: BatchStatus, recordErrors: string[]) => ({
  ...status,
  errors: status.errors == null ? null : { ...status.errors, recordErrors },
});

/** Each tells of failures in its own way; none as the sandbox does. */
const WORDINGS: readonly [string, (status: BatchStatus) => unknown][] = [
  [
    'names records in another form',
    (s) =>
      withErrors(
        s,
        (s.errors?.recordErrors ?? []).map((e) => `Resource '${/"([^"]*)"/.exec(e)?.[1]}': not accepted in time`),
      ),
  ],
  ['counts failed records, and names none', (s) => withErrors(s, [])],
  ['reports all failures in one message', (s) => withErrors(s, ['einige Datensaetze wurden nicht uebernommen'])],
  // A form that looks like ours, and names a record that was accepted.
  [
    'names a record that it has accepted',
    (s) =>
      withErrors(
        s,
        (s.errors?.recordErrors ?? []).map(() => 'externalId "o1": wrong'),
      ),
  ],
];

it.each(WORDINGS)('loses none of a batch when the platform %s', async (_, tell) => {
  const shop = await shopForTest({ upload: { waitForPending: '5s', batchSize: 500 } });
  await fill(shop, 20);
  // Two that the platform will refuse, though they are right by the files: it knows another definition.
  retell(shop, tell);
  await shop.source.query(`UPDATE shop.orders SET customer_id = 777 WHERE no IN ('o4', 'o9')`);

  const report = await shop.run();

  expect(report.total).toMatchObject({ read: 60, accepted: 56, waiting: 0, deadLettered: 4 });
  expect(await deadLetters(shop)).toEqual([
    ['o4', 'parent_missing'],
    ['o9', 'parent_missing'],
    ['o4-1', 'parent_rejected'],
    ['o9-1', 'parent_rejected'],
  ]);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (777, 'Late', 'A', clock_timestamp())`,
  );
  expect((await shop.run()).outcome).toBe('complete');
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it.each([
  ['lists no pending records', (s: BatchStatus) => ({ ...s, pendingResources: undefined })],
  [
    'does not say what is missing or until when',
    (s: BatchStatus) => ({
      ...s,
      pendingResources: s.pendingResources?.map(({ resourceExternalId }) => ({ resourceExternalId })),
    }),
  ],
])('delivers pending children on a platform that %s', async (_, tell) => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '20s', batchSize: 500 } });
  retell(shop, tell);
  await fill(shop, 8);
  await order(shop, 'orphan', 999);

  // Their customers are fetched from the source, although nobody names them.
  const first = await shop.run({ mappings: ['orders'] });
  expect(first).toMatchObject({ outcome: 'incomplete', mappings: [{ accepted: 8, waiting: 1 }, { accepted: 8 }] });
  expect(await shop.state.query('SELECT external_id, reason FROM partner_sync.waiting')).toEqual([
    { external_id: 'orphan', reason: 'parent_missing' },
  ]);

  await expirePending(shop);
  expect((await shop.run({ mappings: ['orders'] })).outcome).toBe('complete_with_dead_letters');
  expect(await deadLetters(shop)).toEqual([['orphan', 'parent_missing']]);
});

it('waits for the parents of a child that makes the platform refuse the whole request', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '20s' } });
  await fill(shop, 3);
  const known = new Set<string>();
  // Each request is validated at once: one that refers to an unknown customer is a 422, in words of its own.
  shop.proxy.fail(({ upload, path, body }) => {
    if (!upload) return undefined;
    const { resources } = JSON.parse(body) as { resources: { customerId?: string; orderId?: string }[] };
    if (path.includes('/customer/')) for (const { customerId } of resources) known.add(customerId!);
    const isBad =
      path.includes('/order/') && resources.some((r) => r.customerId !== undefined && !known.has(r.customerId));
    return isBad
      ? { forward: false, answer: { status: 422, body: '{"success":false,"message":"kann nicht zugeordnet werden"}' } }
      : undefined;
  });

  expect((await shop.run({ mappings: ['orders'] })).outcome).toBe('complete');

  expect(await shop.stored('order', 'o2')).toMatchObject({ customerId: '2' });
  expect(await deadLetters(shop)).toEqual([]);
});

it('retries any dead letter of a child when its parent arrives, even if its reason was another one', async () => {
  const shop = await shopForTest({
    upload: { waitForPending: '5s' },
    files: UNSURE_CUSTOMERS,
  });
  retell(shop, (s) =>
    withErrors(
      s,
      (s.errors?.recordErrors ?? []).map(() => '/total is too large'),
    ),
  );
  await order(shop, 'o1', 7);
  await shop.run({ mappings: ['orders'] });
  expect(await deadLetters(shop)).toEqual([['o1', 'platform_refused']]);

  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, ' 7 ', 'A')`);
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');

  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '7' });
  expect(await deadLetters(shop)).toEqual([]);
});

it('sends records of unknown outcome again in batches, not one by one', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '30s', batchSize: 500 } });
  await fill(shop, 200);
  // For a while the platform's counters tell nothing, and it answers no look-up with what it has.
  let confused = true;
  shop.proxy.fail(({ path, method }) => {
    if (!confused || method !== 'GET') return undefined;
    if (path.startsWith('/api/resources/'))
      return { forward: false, answer: { status: 404, body: '{"success":false,"message":"no"}' } };
    if (!path.startsWith('/api/batches/')) return undefined;
    return {
      forward: true,
      answer(own) {
        const body = JSON.parse(own.body) as { data: BatchStatus };
        if (body.data.completedAt == null) return own;
        return {
          ...own,
          body: JSON.stringify({
            ...body,
            data: { ...body.data, progress: { ...body.data.progress, failedRecords: 7 } },
          }),
        };
      },
    };
  });
  const run = await shop.start('sync', { sync: SYNC, mappings: ['customers'] });
  while (shop.proxy.uploads() < 6) await new Promise((resolve) => setTimeout(resolve, 20));
  confused = false;

  expect(await run.result()).toMatchObject({ outcome: 'complete', total: { read: 200, accepted: 200 } });
  expect(shop.proxy.uploads()).toBeLessThan(30);
});
