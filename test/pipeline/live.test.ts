/** Runs in mode live: what changes in the source is on the platform within seconds, until the run is told to stop. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop as fedShopOn, marking, TABLES, untilLoaded, type FedShopSettings } from './fed-shop.js';
import { eventually, failureOf, fill, reportOf, untilIdle, type Shop } from './shop.js';
import { filesOf } from './shop-files.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());
const fedShop = (settings: FedShopSettings = {}) => fedShopOn(server, settings);

const live = (shop: Shop) => shop.start('sync', { sync: 'shop', mode: 'live' });
const nameOf = async (shop: Shop, id: string) => (await shop.stored('customer', id))?.['name'];

it('loads every row, then delivers changes as they happen and marks deleted rows, and ends with a report when it is cancelled', async () => {
  const shop = await fedShop();
  await fill(shop, 20);
  const run = await live(shop);
  await untilLoaded(shop);

  await shop.source.query(`UPDATE shop.customers SET name = 'Anna' WHERE id = 7`);
  await eventually('that the change arrives', async () => (await nameOf(shop, '7')) === 'Anna');
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (21, 'New', 'A')`);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o21', 21, 5)`);
  await eventually('that the order arrives', async () => (await shop.stored('order', 'o21')) !== null);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await eventually(
    'that the deleted one is marked',
    async () => (await shop.stored('customer', '3'))?.['status'] === 'gone',
  );
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await eventually('that a later one is, too', async () => (await shop.stored('customer', '4'))?.['status'] === 'gone');

  await run.cancel();
  const report = await reportOf(run);
  expect(report).toMatchObject({ mode: 'live', outcome: 'complete' });
  expect(report.removals).toMatchObject([{ mapping: 'customers', records: 2, marked: 2, state: 'done' }]);
});

it('records changes and lets the source forget them while the platform is down, and delivers them once it is back', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  const run = await live(shop);
  await untilLoaded(shop);
  shop.proxy.fail(() => ({ forward: false, answer: 'cut' }));
  const before = await confirmed(shop);
  await shop.source.query(`UPDATE shop.customers SET name = 'During the outage'`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await eventually('that the source may forget', async () => (await confirmed(shop)) !== before);
  await eventually('that the changes are recorded', async () => (await changedRows(shop)) >= 10);
  shop.proxy.fail(undefined);
  await eventually('that all has arrived', async () => (await nameOf(shop, '9')) === 'During the outage');
  await eventually('that nothing is left', async () => (await changedRows(shop)) === 0);
  expect(await shop.stored('customer', '4')).toMatchObject({ status: 'gone' });
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
});

const confirmed = async ({ source, slot }: Awaited<ReturnType<typeof fedShop>>): Promise<string> =>
  (
    await source.query<{ at: string }>(
      'SELECT confirmed_flush_lsn::text AS at FROM pg_replication_slots WHERE slot_name = $1',
      [slot],
    )
  )[0]!.at;
const changedRows = async ({ state }: Shop): Promise<number> =>
  (await state.query<{ n: number }>('SELECT count(*)::int AS n FROM partner_sync.changed_rows'))[0]!.n;

it('goes on with everything else while many removals wait for approval, and carries them out once somebody approves', async () => {
  const hold = marking().replace('deletes: {', 'deletes: { hold: { records: 3, percent: 5 },');
  const shop = await fedShop({ files: { 'customers.mapping.yaml': hold } });
  await fill(shop, 40);
  const run = await live(shop);
  await untilLoaded(shop);
  // One after the other, so that no single plan is beyond the limit.
  for (let id = 1; id <= 8; id++) await shop.source.query('DELETE FROM shop.customers WHERE id = $1', [id]);
  const holds = async () => (await run.query<{ holds: { mapping: string; records: number }[] }, []>('progress')).holds;
  const [held] = await eventually('that the run asks', async () => ((await holds()).length > 0 ? holds() : undefined));
  expect(held).toMatchObject({ mapping: 'customers', cause: 'gone' });
  await shop.source.query(`UPDATE shop.customers SET name = 'Meanwhile' WHERE id = 30`);
  await eventually('that other changes arrive', async () => (await nameOf(shop, '30')) === 'Meanwhile');
  const marked = async () => {
    const states = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((id) => shop.stored('customer', String(id))));
    return states.filter((record) => record?.['status'] === 'gone').length;
  };
  expect(await marked()).toBeLessThanOrEqual(3);

  await run.executeUpdate('approve', { args: [{ reason: 'a clean-up' }] });
  await eventually('that all are marked', async () => (await marked()) === 8);
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
});

it('looks all records through after TRUNCATE, those that it has delivered itself included', async () => {
  const shop = await fedShop({ files: { 'customers.mapping.yaml': marking() } });
  await fill(shop, 10);
  const run = await live(shop);
  await untilLoaded(shop);
  await shop.source.query(
    `BEGIN; CREATE TEMP TABLE kept ON COMMIT DROP AS TABLE shop.customers; TRUNCATE shop.customers CASCADE;
     INSERT INTO shop.customers SELECT * FROM kept WHERE id <> 5; COMMIT`,
  );
  await eventually('that the one is marked', async () => (await shop.stored('customer', '5'))?.['status'] === 'gone');
  expect(await shop.stored('customer', '6')).toMatchObject({ status: 'active' });
  await run.cancel();
  await reportOf(run);
});

it('stops at once while it is paused, and catches up when it is resumed', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  const run = await live(shop);
  await untilLoaded(shop);
  await run.executeUpdate('pause', { args: [] });
  await untilIdle(run);
  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 2`);
  expect(await nameOf(shop, '2')).toBe('Customer 2');
  await run.executeUpdate('resume', { args: [] });
  await eventually('that the change arrives', async () => (await nameOf(shop, '2')) === 'Later');
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
});

it('hands its work over to another worker as soon as its own is asked to stop', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  const run = await live(shop);
  await untilLoaded(shop);
  await shop.rest();
  await shop.source.query(`UPDATE shop.customers SET name = 'Handed over' WHERE id = 2`);
  await shop.work();
  await eventually('that the change arrives', async () => (await nameOf(shop, '2')) === 'Handed over');
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  const { events } = await run.fetchHistory();
  // Neither a timeout nor a failure: the activity has returned.
  expect(events!.filter((e) => e.activityTaskTimedOutEventAttributes ?? e.activityTaskFailedEventAttributes)).toEqual(
    [],
  );
  expect(events!.filter((e) => (e.activityTaskStartedEventAttributes?.attempt ?? 1) > 1)).toEqual([]);
});

it('ends the run and begins another one that reads every row if the slot is created anew', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  const run = await live(shop);
  await untilLoaded(shop);
  await run.executeUpdate('pause', { args: [] });
  await untilIdle(run);
  await dropSlot(shop.source, shop.slot);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await shop.source.query(`UPDATE shop.customers SET name = 'Unheard' WHERE id = 4`);
  await shop.source.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [shop.slot]);
  await run.executeUpdate('resume', { args: [] });
  await eventually('that the change arrives', async () => (await nameOf(shop, '4')) === 'Unheard');
  await eventually(
    'that the deleted one is marked',
    async () => (await shop.stored('customer', '3'))?.['status'] === 'gone',
  );
  const runs = await shop.state.query('SELECT mode, outcome, runs_before FROM partner_sync.runs ORDER BY id');
  expect(runs).toMatchObject([
    { outcome: 'complete', runs_before: 0 },
    { outcome: null, runs_before: 1 },
  ]);
  const last = shop.client.workflow.getHandle(run.workflowId);
  await last.cancel();
  expect(await reportOf(last)).toMatchObject({ outcome: 'complete', run: '2' });
});

it('reads every row again of a mapping that its feed has not reported for a while, though its removals wait for approval', async () => {
  const hold = marking().replace('deletes: {', 'deletes: { hold: { records: 3, percent: 5 },');
  const shop = await fedShop({ files: { 'customers.mapping.yaml': hold } });
  await fill(shop, 40);
  await shop.run();
  await dropSlot(shop.source, shop.slot);
  await shop.source.query('DELETE FROM shop.customers WHERE id <= 20');
  await shop.source.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [shop.slot]);
  const run = await live(shop);
  await eventually('that the removals wait for approval', async () => {
    const { holds } = await run.query<{ holds: unknown[] }, []>('progress');
    return holds.length > 0;
  });
  await run.executeUpdate('pause', { args: [] });
  await untilIdle(run);
  await shop.source.query(`ALTER PUBLICATION ${shop.slot} DROP TABLE shop.customers`);
  await shop.source.query(`UPDATE shop.customers SET name = 'Unheard' WHERE id = 30`);
  await shop.source.query(`ALTER PUBLICATION ${shop.slot} ADD TABLE shop.customers (id)`);
  await run.executeUpdate('resume', { args: [] });

  await eventually('that the change arrives', async () => (await nameOf(shop, '30')) === 'Unheard');

  await shop.client.workflow.getHandle(run.workflowId).cancel();
});

it('refuses a mapping without a feed', async () => {
  const shop = await fedShop({
    files: { 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` },
  });
  expect(await failureOf(await live(shop))).toMatchObject({
    type: 'config_invalid',
    message: expect.stringContaining('have no change feed: lines') as string,
  });
});

it('uses changed files in its next run, which begins by itself: a mapping that is new to the feed is loaded beside it', async () => {
  const { 'shop.lines': key, ...others } = TABLES;
  const shop = await fedShop({ tables: others });
  const lines = readFileSync(join(shop.folder, 'shop', 'lines.mapping.yaml'), 'utf8');
  rmSync(join(shop.folder, 'shop', 'lines.mapping.yaml'));
  await fill(shop, 5);
  const run = await live(shop);
  await eventually('that customers and orders are loaded', async () => (await shop.differences()) === 0);
  expect(await shop.stored('line', 'o2-1')).toBeNull();

  await shop.source.query(`ALTER PUBLICATION ${shop.slot} ADD TABLE shop.lines (${key})`);
  shop.write('lines.mapping.yaml', lines);
  await eventually('that the lines are loaded', async () => (await shop.differences()) === 0, 90);
  await shop.source.query(`UPDATE shop.lines SET sku = 'told' WHERE order_no = 'o2'`);
  await eventually('that a change of a line arrives', async () => (await shop.differences()) === 0);
  const last = shop.client.workflow.getHandle(run.workflowId);
  await last.cancel();
  expect(await reportOf(last)).toMatchObject({ outcome: 'complete', run: '2' });
});

it('leaves out a mapping whose column is gone, goes on with the others, and takes it in again once the column is back', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  const run = await live(shop);
  await untilLoaded(shop);
  await shop.source.query('ALTER TABLE shop.lines RENAME sku TO article');
  await shop.source.query(`UPDATE shop.lines SET article = 'renamed' WHERE order_no = 'o2'`);
  await shop.source.query(`UPDATE shop.customers SET name = 'Meanwhile' WHERE id = 3`);
  await eventually('that the others go on', async () => (await nameOf(shop, '3')) === 'Meanwhile');
  const outcomes = () =>
    shop.state.query<{ outcome: string | null }>('SELECT outcome FROM partner_sync.runs ORDER BY id');
  await eventually('that the next run has begun', async () => (await outcomes()).length === 2);
  const leftOut = async () => (await (await shop.parts.ledger()).syncStates.of('shop'))[0]!.skipped;
  await eventually('that it is told while the run works', async () => (await leftOut()).length === 1);
  expect(await leftOut()).toMatchObject([{ mapping: 'lines', message: expect.stringContaining('sku') as string }]);
  await shop.source.query('ALTER TABLE shop.lines RENAME article TO sku');
  await eventually('that the line has arrived', async () => (await shop.differences()) === 0, 120);
  expect(await leftOut()).toEqual([]);
  const last = shop.client.workflow.getHandle(run.workflowId);
  await last.cancel();
  expect(await reportOf(last)).toMatchObject({ outcome: 'complete' });
});
