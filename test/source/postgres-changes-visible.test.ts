/** Commits that are in the log before queries can see them: a feed must not report them yet, or the row is read too early. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openSlotFeed } from '../../src/source/postgres/changes/slot-feed.js';
import { ConnectedDatabase } from '../../src/source/connected-database.js';
import { postgres } from '../../src/source/postgres/postgres.js';
import { openPostgresSession } from '../../src/source/postgres/session.js';
import { groupsFrom, createSlot, keysOf, startSlotServer, turn, type Slot, type SlotServer } from './slot-server.js';

let server: SlotServer;

beforeAll(async () => {
  // Whoever asks for it waits for this standby, which does not exist, after the commit was written to the log.
  server = await startSlotServer({ synchronous_standby_names: 'nobody', synchronous_commit: 'local' });
});
afterAll(() => server.stop());

const orders = (sql = '') =>
  createSlot(server, `CREATE TABLE orders (id int PRIMARY KEY, note text); ${sql}`, { orders: 'id' });

/** A COMMIT that is in the log and not visible, until it is let through. */
async function commitUnseen(slot: Slot, sql: string): Promise<() => Promise<void>> {
  const writer = await slot.connect();
  await writer.query('SET synchronous_commit = on');
  const [{ pid }] = (await writer.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }];
  const committed = writer.query(sql);
  const isWaiting = async (): Promise<boolean> =>
    (await slot.query(`SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'`, [pid])).length > 0;
  while (!(await isWaiting())) await sleep(10);
  const letThrough = async (): Promise<void> => {
    // The commit is done; only the wait for the standby is given up.
    await slot.query('SELECT pg_cancel_backend($1)', [pid]);
    await committed;
  };
  onTestFinished(() => writer.end());
  return letThrough;
}

const notesOf = async (slot: Slot) =>
  (await slot.query('SELECT note FROM orders ORDER BY id')).map(({ note }) => note as string);

it('reports a commit, and what was committed after it, only once queries can see it', async () => {
  const slot = await orders(`INSERT INTO orders VALUES (1, 'old')`);
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query(`INSERT INTO orders VALUES (2, 'before')`);
  const letThrough = await commitUnseen(slot, `UPDATE orders SET note = 'new' WHERE id = 1`);
  await slot.query(`INSERT INTO orders VALUES (3, 'after')`);

  const [during, position] = await turn(feed, start);
  const seen = await notesOf(slot);
  const [again] = await turn(feed, position);
  await letThrough();
  const [after, last] = await turn(feed, position);

  expect(seen[0]).toBe('old');
  expect([during, again, after]).toEqual([['orders:2'], [], ['orders:1', 'orders:3']]);
  expect((await turn(feed, last))[0]).toEqual([]);
});

it('reports nothing, and stays where it is, if the very first commit cannot be seen yet', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  const letThrough = await commitUnseen(slot, 'INSERT INTO orders VALUES (1)');

  expect(await groupsFrom(slot.feed, start)).toEqual([]);
  await letThrough();
  expect(keysOf(await groupsFrom(slot.feed, start))).toEqual(['orders:1']);
});

it('does not begin before a commit that is older than its slot can be seen, even if it is the newest of all', async () => {
  const slot = await orders();
  const letThrough = await commitUnseen(slot, 'INSERT INTO orders VALUES (1)');
  // As if the slot had been created now: the row is neither in what it will report nor visible.
  const [{ at }] = (await slot.query<{ at: string }>('SELECT pg_current_wal_flush_lsn()::text AS at')) as [
    { at: string },
  ];
  await slot.query('SELECT pg_replication_slot_advance($1, $2)', [slot.name, at]);

  let hasBegun = false;
  const begun = slot.feed.begin().then((position) => {
    hasBegun = true;
    return position;
  });
  await Promise.race([begun, sleep(500)]);
  const before = [hasBegun, (await notesOf(slot)).length];
  await letThrough();
  const position = await begun;

  expect(before).toEqual([false, 0]);
  expect((await notesOf(slot)).length).toBe(1);
  expect(keysOf(await groupsFrom(slot.feed, position))).toEqual([]);
});

it('says since when a transaction is open that keeps it from beginning, and does not mind those of other databases', async () => {
  const [slot, other] = [await orders(), await orders()];
  const writer = await slot.connect();
  onTestFinished(() => writer.end());
  await writer.query('BEGIN');
  await writer.query('INSERT INTO orders VALUES (1)');
  const config = { connection: slot.url, poolMax: 2, statementTimeout: 10 };
  const session = openPostgresSession(config);
  onTestFinished(() => session.close());
  const impatient = openSlotFeed(new ConnectedDatabase(postgres, session, undefined), slot.config, {
    reading: 60_000,
    inUse: 100,
    open: 100,
  });

  await expect(impatient.begin()).rejects.toMatchObject({
    code: 'source_query_failed',
    message: expect.stringMatching(
      /a transaction is open that had begun before it \(since 2\d+-.*pg_prepared_xacts/,
    ) as string,
  });
  await other.feed.begin();
});

it('waits for a transaction that is prepared', async () => {
  const slot = await orders();
  await slot.query(`BEGIN; INSERT INTO orders VALUES (1); PREPARE TRANSACTION '${slot.name}'`);
  let hasBegun = false;
  const begun = slot.feed.begin().then(() => {
    hasBegun = true;
  });
  await Promise.race([begun, sleep(300)]);
  const before = hasBegun;
  await slot.query(`COMMIT PREPARED '${slot.name}'`);
  await begun;
  expect(before).toBe(false);
});
