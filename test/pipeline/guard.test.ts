/** The guard of a sync: a run that would do too much to the records of a mapping is on hold until somebody approves. */
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import { startWebhook } from '../alerts/targets.js';
import { runInProcess } from '../cli/in-process.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, reportOf, shopForTest, type Shop } from './shop.js';
import { filesOf } from './shop-files.js';

const GUARD = '{ changed: 30 %, deadLettered: 5 %, gone: 10 %, records: 5 }';
const DELETES = 'deletes: { action: { set: { status: gone } }, hold: { records: 1000, percent: 100 } }\n';

/** A shop whose 20 customers, with an order and a line each, are on the platform; its sync has the guard. */
async function guardedShop(guard = GUARD): Promise<Shop> {
  const shop = await shopForTest({ guard });
  await fill(shop, 20);
  expect((await shop.run()).outcome).toBe('complete');
  return shop;
}

/** Waits until the workflow knows that it is on hold, which the ledger knows a moment earlier. */
const untilOnHold = (run: WorkflowHandle) =>
  eventually('the run is on hold', async () => (await run.query<{ holds: object[] }, []>('progress')).holds.length > 0);
const mappingsOnHold = async (shop: Shop): Promise<string[]> =>
  (await (await shop.parts.ledger()).guards.onHold('shop')).map(({ mapping }) => mapping);
const command = (shop: Shop, ...args: string[]) => runInProcess(args, shop.env);
/** How many customers on the platform have a name that the tests have changed. */
const changedOnPlatform = async (shop: Shop): Promise<number> =>
  (
    await shop.store.query<{ n: string }>(
      `SELECT count(*) AS n FROM sandbox.resources WHERE data->>'name' LIKE 'Changed %'`,
    )
  ).map(({ n }) => Number(n))[0]!;

it('sends nothing of a mapping of which a run would change too much, until somebody approves', async () => {
  const shop = await guardedShop();
  await shop.source.query(
    `UPDATE shop.customers SET name = 'Changed ' || id, updated_at = clock_timestamp() WHERE id <= 7`,
  );
  const run = await shop.start('sync', { sync: 'shop' });
  await untilOnHold(run);
  expect(await changedOnPlatform(shop)).toBe(0);
  expect((await run.query<{ holds: object[] }, []>('progress')).holds).toMatchObject([
    { mapping: 'customers', cause: 'changed', records: 7, of: 20, limit: { key: 'guard.changed', percent: 30 } },
  ]);

  const status = await command(shop, 'status', 'shop');
  expect(status).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('a run holds 1 mapping until somebody approves') as string,
  });
  const explained = await command(shop, 'explain', 'shop', 'customers', '3', '--json');
  expect(explained.json<{ records: object[] }>().records[0]).toMatchObject({
    state: 'changed_since',
    why: 'its row has changed since the record was accepted, and a run of the sync is on hold',
    next: [
      `run 2 is on hold: customers: 7 records would change, of 20 (guard.changed: 30 %); partner-sync approve shop lets it go on`,
    ],
  });
  const unasked = await command(shop, 'approve', 'shop');
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('confirm with --yes') as string });
  expect(unasked.stderr).toContain('customers: 7 records would change, of 20 (guard.changed: 30 %)');
  expect(unasked.stderr).toMatch(/rows with these keys are among them:\n {4}1\n {4}2\n/);
  expect(await command(shop, 'approve', 'shop', 'lines', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not on hold: lines; on hold: customers') as string,
  });
  for (const [seen, says] of [
    [['--run', '1'], 'run 1 of shop is not active any more'],
    [['--cause', 'gone'], 'not on hold for gone; by now: customers: 7 records would change'],
  ] as const)
    expect(await command(shop, 'approve', 'shop', '--yes', ...seen)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(says) as string,
    });
  expect(await changedOnPlatform(shop)).toBe(0);

  const seen = ['--run', '2', '--cause', 'changed'];
  expect(await command(shop, 'approve', 'shop', '--yes', ...seen, '--reason', 'new names')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('approved, the run goes on: customers: 7 records would change') as string,
  });
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  expect(await changedOnPlatform(shop)).toBe(7);
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await command(shop, 'approve', 'shop', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no run of shop is active') as string,
  });
});

it('lets through what is within the limits, and rows that are new', async () => {
  const shop = await guardedShop();
  await shop.source.query(
    `UPDATE shop.customers SET name = 'Changed ' || id, updated_at = clock_timestamp() WHERE id <= 6`,
  );
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'New ' || i, 'A' FROM generate_series(21, 90) i`,
  );
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await changedOnPlatform(shop)).toBe(6);
});

it('fails when nobody approves in time, and holds the next run for the same rows', async () => {
  const shop = await guardedShop(GUARD.replace('}', ', wait: 1s }'));
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed ' || id, updated_at = clock_timestamp()`);
  const failed = { type: 'guard_exceeded', message: expect.stringContaining('20 records would change') as string };
  expect(await failureOf(await shop.start('sync', { sync: 'shop' }))).toMatchObject(failed);
  expect(await failureOf(await shop.start('sync', { sync: 'shop' }))).toMatchObject(failed);
  expect(await changedOnPlatform(shop)).toBe(0);

  // A backfill has been asked for.
  expect(await shop.backfill({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });
  expect(await changedOnPlatform(shop)).toBe(20);
});

it('sends nothing of a chunk of which too many rows would become dead letters', async () => {
  const shop = await guardedShop();
  await shop.source.query(
    `UPDATE shop.customers SET email = 'no address', updated_at = clock_timestamp() WHERE id <= 6`,
  );
  await shop.source.query(
    `UPDATE shop.customers SET name = 'Changed ' || id, updated_at = clock_timestamp() WHERE id = 7`,
  );
  const run = await shop.start('sync', { sync: 'shop' });
  await untilOnHold(run);
  expect(await shop.state.query('SELECT 1 FROM partner_sync.dead_letters')).toHaveLength(0);
  expect(await changedOnPlatform(shop)).toBe(0);
  await run.executeUpdate('approve');
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete_with_dead_letters', total: { deadLettered: 6 } });
});

it('is on hold if a table is empty whose records the platform has', async () => {
  const shop = await guardedShop();
  await shop.source.query('TRUNCATE shop.lines');
  const run = await shop.start('sync', { sync: 'shop' });
  await untilOnHold(run);
  expect(await mappingsOnHold(shop)).toEqual(['lines']);
  await run.cancel();
  await expect(run.result()).rejects.toThrow();
  expect(await mappingsOnHold(shop)).toEqual([]);
});

it('reads a table again that was empty when somebody approves it, and keeps to the other limits', async () => {
  const shop = await guardedShop();
  await shop.source.query('CREATE TABLE shop.copy AS SELECT * FROM shop.customers');
  await shop.source.query('DELETE FROM shop.customers');
  const run = await shop.start('sync', { sync: 'shop', mode: 'full', mappings: ['customers'] });
  await untilOnHold(run);
  await shop.source.query('INSERT INTO shop.customers SELECT * FROM shop.copy');
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed ' || id`);
  await run.executeUpdate('approve');
  await eventually('the run is on hold for the changes', async () => {
    const { holds } = await run.query<{ holds: { cause: string }[] }, []>('progress');
    return holds[0]?.cause === 'changed';
  });
  expect(await changedOnPlatform(shop)).toBe(0);
  await run.executeUpdate('approve');
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete', total: { read: 20, accepted: 20 } });
  expect(await changedOnPlatform(shop)).toBe(20);
});

it('is on hold no longer once its workflow was terminated: status and the watch see that it has failed', async () => {
  const webhook = await startWebhook();
  const shop = await guardedShop();
  shop.write('sync.yaml', `${filesOf({ guard: GUARD })['sync.yaml']!}alerts: [{ webhook: '${webhook.url}' }]\n`);
  await shop.source.query('TRUNCATE shop.lines');
  const run = await shop.start('sync', { sync: 'shop' });
  await untilOnHold(run);
  await run.terminate();

  const status = await command(shop, 'status', 'shop');
  expect(status.code).toBe(1);
  expect(status.stdout).toMatch(/^shop: failing; .*\n {2}the latest run failed, last with run_stopped\n/);
  expect(status.stdout).not.toContain('until somebody approves');
  expect(await mappingsOnHold(shop)).toEqual(['lines']);

  await shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
  expect(await mappingsOnHold(shop)).toEqual([]);
  await eventually('the notification arrives', () => Promise.resolve(webhook.delivered().includes('problem failing')));
  expect(webhook.notifications().at(-1)!.what).toContain('run_stopped');
});

it('names the limit of removals that is exceeded, and whether it is in one tenant', async () => {
  const shop = await shopForTest({
    guard: GUARD.replace('gone: 10 %', 'gone: 100 %'),
    files: {
      'customers.mapping.yaml': `${CUSTOMERS}${DELETES.replace('records: 1000, percent: 100', 'records: 5, percent: 30')}`,
    },
  });
  await fill(shop, 60);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id > 40`);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.lines; DELETE FROM shop.orders; DELETE FROM shop.customers WHERE id > 50');
  const run = await shop.start('sync', { sync: 'shop', mode: 'mirror', mappings: ['customers'] });
  await untilOnHold(run);
  expect((await command(shop, 'approve', 'shop', '--yes')).stderr).toContain(
    'customers: 10 records of one tenant would be removed, of 20 (deletes.hold: 30 %)',
  );
  expect(await reportOf(run)).toMatchObject({ removals: [{ state: 'done', marked: 10 }] });
});

it('removes vanished records within the run once somebody has approved', async () => {
  const shop = await shopForTest({
    guard: GUARD,
    files: { 'customers.mapping.yaml': `${CUSTOMERS}${DELETES}` },
  });
  await fill(shop, 60);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers WHERE id > 50');
  await shop.source.query('DELETE FROM shop.lines; DELETE FROM shop.orders');
  const run = await shop.start('sync', { sync: 'shop', mode: 'mirror', mappings: ['customers'] });
  await untilOnHold(run);
  const status = await command(shop, 'status', 'shop');
  expect(status.stdout).toContain('a run holds 1 mapping until somebody approves');
  for (const { stdout } of [
    status,
    await command(shop, 'removals', 'shop'),
    await command(shop, 'removals', 'shop', '1'),
  ])
    expect(stdout).toContain('approve: partner-sync approve shop (while run 2 is on hold for it)');
  const gauges = await (await shop.parts.ledger()).gauges.read(['shop']);
  expect(gauges).toContainEqual({ metric: 'mappings_on_hold', labels: { sync: 'shop' }, value: 1 });
  expect((await command(shop, 'approve', 'shop', '--yes')).stderr).toContain(
    'customers: 10 records would be removed, of 60 (guard.gone: 10 %)',
  );
  expect(await reportOf(run)).toMatchObject({ removals: [{ mapping: 'customers', state: 'done', marked: 10 }] });
});

const CUSTOMERS = `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] }
`;
