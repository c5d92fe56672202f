/** Runs that read every row beside a run in mode live: each has its own report, and neither keeps the other from its work. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop, untilLoaded } from './fed-shop.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, reportOf, SYNC, type Shop } from './shop.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const start = (shop: Shop, mode: string) => shop.start('sync', { sync: SYNC, mode });
const nameOf = async (shop: Shop, id: string) => (await shop.stored('customer', id))?.['name'];
const isGone = async (shop: Shop, id: string) => (await shop.stored('customer', id))?.['status'] === 'gone';

/** A shop that a run in mode live follows. */
async function followed(rows: number) {
  const shop = await fedShop(server);
  await fill(shop, rows);
  const run = await start(shop, 'live');
  await untilLoaded(shop);
  return { shop, run };
}

/** Changes rows without a word by the feed, as detaching a partition does: while the table has another name. */
async function unheard({ source }: Shop, sql: string): Promise<void> {
  await source.query(
    `BEGIN; ALTER TABLE shop.customers RENAME TO elsewhere; ${sql.replaceAll('shop.customers', 'shop.elsewhere')};
     ALTER TABLE shop.elsewhere RENAME TO customers; COMMIT`,
  );
}

it('finds what no feed has told, and says so in a report of its own, while changes go on arriving', async () => {
  const { shop, run } = await followed(20);
  await unheard(
    shop,
    `DELETE FROM shop.customers WHERE id = 4; UPDATE shop.customers SET name = 'Unheard' WHERE id = 5`,
  );

  const mirror = await runInProcess(['run', SYNC, '--mode', 'mirror', '--json'], shop.env);

  expect(mirror).toMatchObject({ code: 0 });
  expect(JSON.parse(mirror.stdout)).toMatchObject({
    mode: 'mirror',
    outcome: 'complete',
    removals: [{ mapping: 'customers', state: 'done', records: 1, marked: 1 }],
  });
  expect(await isGone(shop, '4')).toBe(true);
  expect(await nameOf(shop, '5')).toBe('Unheard');

  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 6`);
  await eventually('that a change arrives', async () => (await nameOf(shop, '6')) === 'Later');
  const runs = await shop.state.query('SELECT mode, outcome, failure_code FROM partner_sync.runs ORDER BY id');
  expect(runs).toEqual([
    { mode: 'live', outcome: null, failure_code: null },
    { mode: 'mirror', outcome: 'complete', failure_code: null },
  ]);
  // It was not even interrupted.
  const { events } = await run.fetchHistory();
  expect(events!.filter((e) => (e.activityTaskStartedEventAttributes?.attempt ?? 1) > 1)).toEqual([]);
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('leaves rows that are deleted while it reads to the run in mode live, which marks them once all is read', async () => {
  const { shop, run } = await followed(20);
  await unheard(shop, `UPDATE shop.customers SET name = 'Unheard'`);
  shop.proxy.fail(() => ({ forward: false, answer: 'cut' }));
  const mirror = await start(shop, 'mirror');
  const [reading] = await eventually('that customers are read', async () => {
    const found = await shop.state.query<{ id: string }>(
      `SELECT r.id FROM partner_sync.runs r JOIN partner_sync.partitions p ON p.run_id = r.id
       WHERE r.mode = 'mirror' AND p.fencing_token > 0`,
    );
    return found.length > 0 && found;
  });
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await eventually('that it is left to the mirror run', async () => {
    const left = await shop.state.query('SELECT FROM partner_sync.changed_rows WHERE after_run = $1', [reading!.id]);
    return left.length === 1;
  });
  shop.proxy.fail(undefined);

  expect(await reportOf(mirror)).toMatchObject({ mode: 'mirror', outcome: 'complete' });
  await eventually('that it is marked', () => isGone(shop, '4'), 90);
  expect(await nameOf(shop, '5')).toBe('Unheard');
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('lets a run in mode live begin beside it, as one does each day', async () => {
  const { shop, run } = await followed(20);
  await unheard(shop, `UPDATE shop.customers SET name = 'Unheard'; DELETE FROM shop.customers WHERE id = 4`);
  await run.cancel();
  await reportOf(run);
  shop.proxy.fail(({ upload }) => (upload ? { forward: false, answer: 'cut' } : undefined));
  const mirror = await start(shop, 'mirror');
  await eventually('that it has begun', async () => (await modesWithLease(shop)) === 'mirror');
  const live = await start(shop, 'live');
  await eventually('that both work', async () => (await modesWithLease(shop)) === 'live, mirror');
  shop.proxy.fail(undefined);

  expect(await reportOf(mirror)).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', marked: 1 }] });
  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 6`);
  await eventually('that a change arrives', async () => (await nameOf(shop, '6')) === 'Later');
  await live.cancel();
  expect(await reportOf(live)).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

const modesWithLease = async ({ state }: Shop): Promise<string> => {
  const runs = await state.query<{ mode: string }>(
    `SELECT r.mode FROM partner_sync.sync_leases l JOIN partner_sync.runs r ON r.id = l.run_id ORDER BY r.mode`,
  );
  return runs.map(({ mode }) => mode).join(', ');
};

it('is no incremental run, which would deliver what the run in mode live does, and is refused', async () => {
  const { shop, run } = await followed(3);
  expect(await failureOf(await start(shop, 'incremental'))).toMatchObject({
    type: 'run_in_progress',
    message: expect.stringContaining('run 1 of shop is in progress') as string,
  });
  await run.cancel();
  await reportOf(run);
});
