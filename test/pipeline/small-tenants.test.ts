/** A tenant with few new rows beside one with so many that a run takes minutes: it need not wait for them. */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deliverSmallTenants, recoverSmallTenants } from '../../src/delivery/small-tenants/deliver-small-tenants.js';
import type { Fault } from './platform-proxy.js';
import { filesOf } from './shop-files.js';
import { eventually, fill, NO_OPEN_ENDS, openEnds, openRunByHand, reportOf, shopForTest, type Shop } from './shop.js';

/** More than a small tenant may have. */
const LARGE = 1_200;

/** What the platform says to an upload of the small tenant if it takes none. */
const REFUSED: Fault = { forward: false, answer: { status: 422, body: '{"success":false,"message":"not now"}' } };

/** A shop whose large tenant's uploads each take `after` milliseconds, four at a time. */
async function slowShop(
  after: number,
  { inDoubtDelay = '1m', batchSize = 5, south = undefined as Fault | undefined, loaded = true, files = {} } = {},
) {
  const shop = await shopForTest({ upload: { requestsAtOnce: 4, batchSize, inDoubtDelay }, files });
  await fill(shop, 2);
  if (loaded) expect((await shop.run()).outcome).toBe('complete');
  shop.proxy.fail(({ tenant, upload }) =>
    !upload ? undefined : tenant === 'north' ? { forward: true, answer: 'pass', after } : south,
  );
  shop.proxy.forget();
  return shop;
}

/** So many that the platform's refusal of each one is taken for a mistake that concerns them all. */
const manyCustomers = (shop: Shop) =>
  shop.source.query(
    `INSERT INTO shop.customers (id, shop, name, status) SELECT i, 's', 'South', 'A' FROM generate_series(501, 525) i`,
  );
const uploadsOfSouth = (shop: Shop): number =>
  shop.proxy.requests.filter(({ tenant, upload }) => upload && tenant === 'south').length;

/** A million rows in small: many customers of the tenant north, all older than what comes afterwards. */
const bulkUpdate = (shop: Shop, customers = LARGE) =>
  shop.source.query(
    `INSERT INTO shop.customers (id, name, status)
     SELECT i, 'Customer ' || i, 'A' FROM generate_series(1001, ${1000 + customers}) i`,
  );

/** A customer of the tenant south with an order of one line. */
async function newCustomer(shop: Shop, id: number): Promise<void> {
  await shop.source.query(`INSERT INTO shop.customers (id, shop, name, status) VALUES ($1, 's', 'South', 'A')`, [id]);
  await shop.source.query(`INSERT INTO shop.orders (no, shop, customer_id) VALUES ('s' || $1::int, 's', $1)`, [id]);
  await shop.source.query(`INSERT INTO shop.lines (order_no, line, shop, sku) VALUES ('s' || $1::int, 1, 's', 'x')`, [
    id,
  ]);
}

const onPlatform = async (shop: Shop, tenant: string): Promise<number> =>
  (
    await shop.store.query<{ n: number }>(`SELECT count(*)::int AS n FROM sandbox.resources WHERE tenant_id = $1`, [
      tenant,
    ])
  )[0]!.n;

it('delivers what is new of a small tenant, also what comes while the run works, in all mappings', async () => {
  const shop = await slowShop(2_000);
  await bulkUpdate(shop);
  await newCustomer(shop, 100_001);
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('the line is there', async () => (await shop.stored('line', 's100001-1', 'south')) !== null);
  await newCustomer(shop, 100_002);
  await eventually('the line is there', async () => (await shop.stored('line', 's100002-1', 'south')) !== null);
  // The large tenant has most of its rows before it, and the other mappings have not been begun.
  expect(await onPlatform(shop, 'north')).toBeLessThan(LARGE);
  expect((await run.describe()).status.name).toBe('RUNNING');

  shop.proxy.fail(undefined);
  const report = await reportOf(run);
  expect(report).toMatchObject({ outcome: 'complete' });
  // Each row is counted once, by the run that reads it in order: the second customer came after the high watermark.
  const [customers] = report.mappings;
  expect(customers).toMatchObject({ mapping: 'customers', accepted: LARGE + 1 });
  const next = await shop.run();
  expect(next).toMatchObject({ outcome: 'complete', total: { accepted: 0, deadLettered: 0 } });
  expect(next.total.unchanged).toBeGreaterThanOrEqual(3);
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

const withoutCursor = (mapping: string): string => filesOf({})[mapping]!.replace(/^cursor: .*\n/m, '');

it.each([
  ['', {}],
  [
    ', without cursors',
    Object.fromEntries(
      ['customers.mapping.yaml', 'orders.mapping.yaml', 'lines.mapping.yaml'].map((name) => [
        name,
        withoutCursor(name),
      ]),
    ),
  ],
])('delivers the rows of a small tenant ahead of those of a large one in a first load%s', async (_, files) => {
  const shop = await slowShop(2_000, { loaded: false, files });
  await bulkUpdate(shop);
  await newCustomer(shop, 100_001);
  const run = await shop.start('sync', { sync: 'shop', mode: 'full' });
  await eventually('the line is there', async () => (await shop.stored('line', 's100001-1', 'south')) !== null);
  expect(await onPlatform(shop, 'north')).toBeLessThan(LARGE);

  shop.proxy.fail(undefined);
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete', total: { read: LARGE + 9, accepted: LARGE + 9 } });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('settles what a round has left open whose records were all refused, before the run ends', async () => {
  const shop = await slowShop(1_000, { inDoubtDelay: '4s', batchSize: 50, south: REFUSED });
  await bulkUpdate(shop, 10 * LARGE);
  const southBefore = await onPlatform(shop, 'south');
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('the run has begun to send', () => Promise.resolve(shop.proxy.uploads() > 0));
  await manyCustomers(shop);
  // One batch of 25 records, and all its halves; on a slow machine the next round may have begun before anybody looks.
  await eventually('each record is refused', () => Promise.resolve(uploadsOfSouth(shop) >= 49));

  shop.proxy.fail(undefined);
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  // On a slow machine the run itself has time for one more round, which delivers them.
  const next = await shop.run();
  expect(next).toMatchObject({ outcome: 'complete', total: { deadLettered: 0 } });
  expect(await onPlatform(shop, 'south')).toBe(southBefore + 25);
});

/** A run that has been opened, of which a test does the rounds itself. */
async function openedRun(shop: Shop) {
  const deps = await shop.parts.dependencies();
  const { runId, stages, firstPass } = await openRunByHand(shop);
  const mappings = stages.flat();
  const run = { runId, sync: 'shop' };
  const steps = [
    ...firstPass.flat().map((mapping) => ({ mapping, firstPass: true })),
    ...mappings.map((mapping) => ({ mapping, firstPass: false })),
  ];
  return {
    ledger: deps.ledger,
    async deliver(signal = new AbortController().signal) {
      // Each batch listens, as in an activity.
      setMaxListeners(0, signal);
      return (await deliverSmallTenants(deps, { ...run, steps }, signal)).sent;
    },
    recover: () => recoverSmallTenants(deps, { ...run, mappings }, new AbortController().signal),
    counts: async () => (await deps.ledger.counts.progress(runId)).reduce((sum, { read }) => sum + read, 0),
    end: () => deps.ledger.runs.end(runId, 'failed', { code: 'run_stopped', message: 'by hand' }),
  };
}

it('leaves rows that fail, and all counts, to the reading in order', async () => {
  const shop = await shopForTest();
  await fill(shop, 2);
  await shop.run();
  await newCustomer(shop, 101);
  // The customer of this order is not there, and no rule knows the status of that customer.
  await shop.source.query(`INSERT INTO shop.orders (no, shop, customer_id) VALUES ('lost', 's', 999)`);
  await shop.source.query(`INSERT INTO shop.customers (id, shop, name, status) VALUES (102, 's', 'South', '?')`);
  const run = await openedRun(shop);
  await run.deliver();
  expect(await shop.stored('line', 's101-1', 'south')).toEqual({ lineId: 's101-1', orderId: 's101', sku: 'x' });
  expect(await shop.stored('order', 'lost', 'south')).toBeNull();
  await shop.source.query(`UPDATE shop.customers SET name = 'Later', updated_at = clock_timestamp() WHERE id = 101`);
  expect(await run.deliver()).toBeGreaterThan(0);
  expect(await shop.stored('customer', '101', 'south')).toMatchObject({ name: 'Later' });
  expect(await run.counts()).toBe(0);
  for (const table of ['waiting', 'dead_letters'])
    expect(await shop.state.query(`SELECT * FROM partner_sync.${table}`)).toEqual([]);
  await run.end();

  const report = await shop.run();
  const counts = report.mappings.map(({ mapping, accepted, deadLettered }) => ({ mapping, accepted, deadLettered }));
  expect(counts).toEqual([
    { mapping: 'customers', accepted: 0, deadLettered: 1 },
    { mapping: 'orders', accepted: 0, deadLettered: 1 },
    { mapping: 'lines', accepted: 0, deadLettered: 0 },
  ]);
});

it('sends nothing that has been sent early already, and what a round leaves in doubt at most twice', async () => {
  const shop = await shopForTest();
  await fill(shop, 2);
  await shop.run();
  await newCustomer(shop, 101);
  const run = await openedRun(shop);
  expect(await run.deliver()).toBe(3);
  expect(await run.deliver()).toBe(0);
  await newCustomer(shop, 102);
  // Of two rounds at once, as after a freeze, one is fenced off.
  await Promise.allSettled([run.deliver(), run.deliver()]);
  await run.deliver();
  expect(await shop.differences()).toBe(0);
  expect(shop.proxy.requests.filter(({ upload, body }) => upload && body.includes('102')).length).toBeLessThanOrEqual(
    6,
  );
});

it('leaves to the reading in order what would exceed a limit of the guard', async () => {
  const shop = await shopForTest({ guard: '{ changed: 10 %, records: 5 }' });
  await fill(shop, 60);
  await shop.source.query(
    `INSERT INTO shop.customers (id, shop, name, status) SELECT i, 's', 'South', 'A' FROM generate_series(501, 520) i`,
  );
  expect((await shop.run()).outcome).toBe('complete');
  await shop.source.query(`UPDATE shop.customers SET name = 'Wrong', updated_at = clock_timestamp() WHERE shop = 's'`);
  const run = await openedRun(shop);
  expect(await run.deliver()).toBe(0);
  expect(await run.ledger.guards.onHold('shop')).toEqual([]);
  // No later round counts them again; what changes after it is within the limits.
  expect(await run.deliver()).toBe(0);
  await shop.source.query(
    `UPDATE shop.customers SET name = 'Right', updated_at = clock_timestamp() WHERE shop = 's' AND id <= 504`,
  );
  expect(await run.deliver()).toBe(4);
  expect(await shop.stored('customer', '501', 'south')).toMatchObject({ name: 'Right' });
});

it('settles what a round has left open that was cut off, so that no record stays in a batch', async () => {
  const shop = await shopForTest();
  await fill(shop, 2);
  await shop.run();
  await newCustomer(shop, 101);
  const run = await openedRun(shop);
  const cutOff = new AbortController();
  shop.proxy.fail(({ upload }) => {
    if (upload) cutOff.abort(new Error('the worker is gone'));
    return upload ? { forward: true, answer: 'hang' } : undefined;
  });
  await expect(run.deliver(cutOff.signal)).rejects.toThrow();
  shop.proxy.fail(undefined);
  expect((await openEnds(shop))['batches']).toBeGreaterThan(0);
  await run.recover();
  expect((await openEnds(shop))['batches']).toBe(0);
  // Nobody has read these rows in order: that delivers the rest.
  await run.end();
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.differences()).toBe(0);
});

it('sends once only what is refused record by record, and later rows ahead of their turn all the same', async () => {
  const shop = await shopForTest();
  await fill(shop, 2);
  await shop.run();
  await manyCustomers(shop);
  const run = await openedRun(shop);
  shop.proxy.fail(({ upload }) => (upload ? REFUSED : undefined));
  await run.deliver();
  const refused = shop.proxy.uploads();
  await run.deliver();
  expect(shop.proxy.uploads()).toBe(refused);
  shop.proxy.fail(undefined);
  await newCustomer(shop, 101);
  expect(await run.deliver()).toBe(3);
  await run.end();

  expect((await shop.run()).total).toMatchObject({ accepted: 25, deadLettered: 0 });
  expect(await shop.differences()).toBe(0);
});

it('delivers new records of a small tenant that refer to each other in a cycle', async () => {
  const files = filesOf({});
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': files['customers.mapping.yaml']!.replace(
        'name: name',
        'lastOrder: { ref: orders, column: name, omitNull: true }',
      ),
      'customer.schema.json': files['customer.schema.json']!.replace(
        '"name":{"type":"string"}',
        '"lastOrder":{"$ref":"order"}',
      ),
    },
  });
  // A customer's name is the number of its last order here.
  await newCustomer(shop, 101);
  await shop.source.query(`UPDATE shop.customers SET name = 's101' WHERE id = 101`);
  const run = await openedRun(shop);
  await run.deliver();
  expect(await shop.stored('customer', '101', 'south')).toMatchObject({ lastOrder: 's101' });
  expect(await shop.stored('line', 's101-1', 'south')).toMatchObject({ orderId: 's101' });
  expect(await run.counts()).toBe(0);
  expect((await openEnds(shop))['batches']).toBe(0);
  await run.end();
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 3, accepted: 0 } });
  expect(await shop.differences()).toBe(0);
});

it('takes the rows of a mapping without a cursor once in a run', async () => {
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': withoutCursor('customers.mapping.yaml') } });
  await newCustomer(shop, 101);
  const run = await openedRun(shop);
  expect(await run.deliver()).toBe(3);
  await newCustomer(shop, 102);
  // The order is new by its cursor; its customer is left to the reading in order, and the platform waits for it.
  await run.deliver();
  expect(await shop.stored('customer', '102', 'south')).toBeNull();
  await run.end();
});

it('delivers the rows of more tenants than one query can name', async () => {
  const many = Array.from({ length: 600 }, (_, i) => `s${i}`);
  const values = ['n: north', ...many.map((value) => `${value}: south`)].join(', ');
  const shop = await shopForTest();
  const sync = readFileSync(join(shop.folder, 'shop', 'sync.yaml'), 'utf8');
  shop.write('sync.yaml', sync.replace(/^tenant: .*$/m, `tenant: { column: shop, values: { ${values} } }`));
  await fill(shop, 2);
  await shop.run();
  await shop.source.query(
    `INSERT INTO shop.customers (id, shop, name, status) SELECT i, 's' || (i - 1000), 'South', 'A' FROM generate_series(1000, 1599) i`,
  );
  const run = await openedRun(shop);
  expect(await run.deliver()).toBe(600);
  expect(await run.deliver()).toBe(0);
});
