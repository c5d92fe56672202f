/** A slot for which the source keeps more than `changes.maxWal`: status says so, and it is given up if the sync says so. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchFeeds } from '../../src/delivery/run/watch-feeds.js';
import { runInProcess } from '../cli/in-process.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop as fedShopOn, untilLoaded } from './fed-shop.js';
import { eventually, fill, reportOf, untilIdle } from './shop.js';
import { filesOf } from './shop-files.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

/** A shop of ten customers whose slot has this limit, as sync.yaml writes it. */
async function limitedShop(limit: string) {
  const shop = await fedShopOn(server);
  await fill(shop, 10);
  const limitTo = (text: string) =>
    shop.write(
      'sync.yaml',
      filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot}${text} }` })['sync.yaml']!,
    );
  limitTo(`, ${limit}`);
  return { ...shop, limitTo };
}
type LimitedShop = Awaited<ReturnType<typeof limitedShop>>;

/** What the watch does each minute, as though nobody had looked at the slot for a while. */
async function watch({ parts, state }: LimitedShop): Promise<void> {
  await state.query(`UPDATE partner_sync.change_feeds SET seen_at = seen_at - interval '1 min'`);
  await watchFeeds(await parts.dependencies(), 'shop');
}

/** 24 MiB of the server's log, which the slot has to keep although they are about none of its tables. */
async function writeLog({ source }: LimitedShop): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await source.query(
      `SELECT pg_logical_emit_message(true, 'filler', repeat('x', 1048576)) FROM generate_series(1, 8)`,
    );
    // The server marks where decoding may begin.
    await source.query('CHECKPOINT');
  }
}

interface ShownHealth<Problem> {
  readonly live: string | null;
  readonly feeds: readonly { readonly summary: string }[];
  readonly problems: readonly Problem[];
}

async function healthOf({ env }: LimitedShop): Promise<ShownHealth<string>> {
  const { json } = await runInProcess(['status', 'shop', '--json'], env);
  const [health] = json<{ healths: ShownHealth<{ trigger: string; what: string }>[] }>().healths;
  return { ...health!, problems: health!.problems.map(({ trigger, what }) => `${trigger}: ${what}`) };
}
const problemsOf = async (shop: LimitedShop) => (await healthOf(shop)).problems;

const unreadBytes = async ({ source, slot }: LimitedShop): Promise<number> =>
  (
    await source.query<{ bytes: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::float8 AS bytes
       FROM pg_replication_slots WHERE slot_name = $1`,
      [slot],
    )
  )[0]!.bytes;

it('is a problem of the sync while no run reads the slot, until one does', async () => {
  const shop = await limitedShop('maxWal: 20MiB');
  await shop.run();
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([]);
  await writeLog(shop);
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([
    expect.stringMatching(
      /^feed-behind: the source keeps 2[4-9]\.\d MiB of its log for the change feed \w+ \(limit 20\.0 MiB; last read to its end .*s ago\): let a run read it, or remove it$/,
    ),
  ]);
  expect(await unreadBytes(shop)).toBeGreaterThan(20 * 1024 * 1024);
  await shop.run();
  expect(await problemsOf(shop)).toEqual([]);
});

it('is found by the watch', async () => {
  const shop = await limitedShop('maxWal: 20MiB');
  await shop.run();
  const yaml = filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot}, maxWal: 20MiB }` })['sync.yaml']!;
  shop.write('sync.yaml', `${yaml}schedules: [{ name: nightly, cron: '0 0 1 1 *' }]\n`);
  await writeLog(shop);
  await shop.state.query(`UPDATE partner_sync.change_feeds SET seen_at = seen_at - interval '1 min'`);
  await shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
  expect(await problemsOf(shop)).toEqual([expect.stringMatching(/^feed-behind: the source keeps 2\d/)]);
});

it('ends as a problem when the limit is raised or removed, without a run', async () => {
  const shop = await limitedShop('maxWal: 20MiB');
  await shop.run();
  await writeLog(shop);
  await watch(shop);
  expect(await problemsOf(shop)).toHaveLength(1);
  shop.limitTo('');
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([]);
});

it('is no problem that a source cannot be reached, and what was known stays', async () => {
  const shop = await limitedShop('maxWal: 20MiB');
  await shop.run();
  shop.write(
    'sync.yaml',
    filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot}, maxWal: 20MiB }` })['sync.yaml']!.replace(
      '${env:SOURCE_URL}',
      'postgres://nobody@127.0.0.1:1/nothing',
    ),
  );
  await expect(watch(shop)).rejects.toMatchObject({ code: 'source_unreachable' });
  expect(await problemsOf(shop)).toEqual([]);
});

it('a slot that is gone is a problem of the sync before any run fails for it', async () => {
  const shop = await limitedShop('maxWal: 1GiB');
  await shop.run();
  await shop.source.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([
    expect.stringMatching(/^feed-unreadable: the change feed \w+ cannot be read: there is no slot "\w+" \(last read/),
  ]);
});

it('gives the slot up if the sync says so; the next run reads every row, finds deleted ones, and says why', async () => {
  const shop = await limitedShop('maxWal: 20MiB, whenExceeded: reread');
  await shop.run();
  await shop.source.query(`UPDATE shop.customers SET name = 'Anna' WHERE id = 7`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await writeLog(shop);
  await watch(shop);
  expect(await unreadBytes(shop)).toBeLessThan(1024 * 1024);
  const given =
    /the change feed \w+ was given up at [\d-]+ [\d:]+ UTC, as the source kept 2[4-9]\.\d MiB of its log for it \(limit 20\.0 MiB\); /;
  expect(await problemsOf(shop)).toEqual([
    expect.stringMatching(`^feed-behind: ${given.source}the next run reads every row$`),
  ]);
  const { stdout } = await runInProcess(['audit', 'shop', '--json'], shop.env);
  expect(stdout).toContain('feed_given_up');
  // Nothing more is given up, and nothing more is said.
  await watch(shop);
  expect((await runInProcess(['audit', 'shop', '--json'], shop.env)).stdout.match(/feed_given_up/g)).toHaveLength(1);

  const report = await shop.run();
  expect(report.notes).toContainEqual({
    mapping: 'customers',
    message: expect.stringMatching(`^${given.source}every row is read again$`) as string,
  });
  expect(report).toMatchObject({ outcome: 'complete', removals: [{ mapping: 'customers', records: 1, marked: 1 }] });
  expect(await shop.stored('customer', '7')).toMatchObject({ name: 'Anna' });
  expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([]);
  expect(await shop.run()).toMatchObject({ total: { read: 0 } });
});

it('does not give up what is kept for a transaction that stays open, and says that it is that', async () => {
  const shop = await limitedShop('maxWal: 20MiB, whenExceeded: reread');
  await shop.run();
  const open = await shop.source.connect();
  try {
    await open.query('BEGIN');
    await open.query(`UPDATE shop.customers SET name = name WHERE id = 1`);
    await writeLog(shop);
    await shop.run();
    await watch(shop);
    expect(await problemsOf(shop)).toEqual([
      expect.stringContaining('most of which was read: end transactions that stay open in the source'),
    ]);
  } finally {
    await open.query('ROLLBACK');
    await open.end();
  }
});

it('gives the slot of a paused run in mode live up, which begins again when it is resumed', async () => {
  const shop = await limitedShop('maxWal: 20MiB, whenExceeded: reread');
  const run = await shop.start('sync', { sync: 'shop', mode: 'live' });
  await eventually('that all is loaded', async () => (await shop.differences()) === 0);
  await eventually('that status tells the lag', async () =>
    /^delivered up to \d\.\ds ago; nothing to go$/.test((await healthOf(shop)).live ?? ''),
  );
  await eventually('that status tells how much is kept', async () =>
    /^change feed \w+: last read to its end .* ago; the source keeps .* of its log, .* unread \(limit 20\.0 MiB\)$/.test(
      (await healthOf(shop)).feeds[0]?.summary ?? '',
    ),
  );
  await run.executeUpdate('pause', { args: [] });
  await untilIdle(run);
  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 2`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await writeLog(shop);
  await watch(shop);
  expect(await problemsOf(shop)).toEqual([expect.stringMatching(/^feed-behind: .* was given up/)]);

  await run.executeUpdate('resume', { args: [] });
  await eventually('that the change arrives', async () => (await shop.stored('customer', '2'))?.['name'] === 'Later');
  await eventually(
    'that the deleted one is marked',
    async () => (await shop.stored('customer', '4'))?.['status'] === 'gone',
  );
  await eventually('that nothing is wrong', async () => (await problemsOf(shop)).length === 0);
  const latest = shop.client.workflow.getHandle(run.workflowId);
  await latest.cancel();
  const report = await reportOf(latest);
  expect(report.notes).toContainEqual({
    mapping: 'customers',
    message: expect.stringContaining('was given up at') as string,
  });
});

it('fences off a run that reads the slot while it is given up, which begins again and misses nothing', async () => {
  const shop = await limitedShop('maxWal: 20MiB, whenExceeded: reread');
  const run = await shop.start('sync', { sync: 'shop', mode: 'live' });
  await eventually('that all is loaded', async () => (await shop.differences()) === 0);
  const { feeds } = (await shop.parts.dependencies()).ledger;
  await feeds.giveUp('shop', shop.slot, { origin: 'o', at: '1' }, 'the change feed was given up for a test');
  await shop.source.query(`UPDATE shop.customers SET name = 'Meanwhile' WHERE id = 2`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await eventually(
    'that the change arrives',
    async () => (await shop.stored('customer', '2'))?.['name'] === 'Meanwhile',
  );
  await eventually(
    'that the deleted one is marked',
    async () => (await shop.stored('customer', '4'))?.['status'] === 'gone',
  );
  await untilLoaded(shop);
  const latest = shop.client.workflow.getHandle(run.workflowId);
  await latest.cancel();
  expect(await reportOf(latest)).toMatchObject({ outcome: 'complete' });
});
