/** Slots with very much to report, slots that others use, and readings that are given up. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FeedPosition } from '../../src/domain/source/change-feed.js';
import { ConnectedDatabase } from '../../src/source/connected-database.js';
import { openSource } from '../../src/source/open-source.js';
import { openSlotFeed } from '../../src/source/postgres/changes/slot-feed.js';
import { postgres } from '../../src/source/postgres/postgres.js';
import { openPostgresSession } from '../../src/source/postgres/session.js';
import {
  createSlot,
  groupsFrom,
  keysOf,
  positionAfter,
  startSlotServer,
  type Slot,
  type SlotServer,
} from './slot-server.js';

let server: SlotServer;

beforeAll(async () => {
  server = await startSlotServer();
});
afterAll(() => server.stop());

const orders = () => createSlot(server, 'CREATE TABLE orders (id int PRIMARY KEY, note text)', { orders: 'id' });

describe('of a transaction with 250,000 rows', () => {
  const ROWS = 250_000;

  it('a reading gives groups, only the last of which ends it, and keeps little in memory', async () => {
    const slot = await orders();
    const start = await slot.feed.begin();
    await slot.query('INSERT INTO orders SELECT generate_series(1, $1)', [ROWS]);
    await slot.query('INSERT INTO orders VALUES (0)');
    const sizes: number[] = [];
    const positions: (FeedPosition | null)[] = [];
    const heaps: number[] = [];
    let expected = 1;

    for await (const { rows, position } of slot.feed.read(start, new AbortController().signal)) {
      for (const { keys } of rows)
        for (const [id] of keys) {
          if (Number(id) === expected) expected++;
        }
      sizes.push(rows.reduce((sum, { keys }) => sum + keys.length, 0));
      positions.push(position);
      heaps.push(process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
    }

    expect(expected).toBe(ROWS + 1);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(ROWS + 1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4096);
    expect(positions.slice(0, -1).every((position) => position === null)).toBe(true);
    expect(positions.at(-1)).not.toBe(null);
    // All of them as JavaScript values would take more than 60 MB.
    expect(Math.max(...heaps) - heaps[0]!).toBeLessThan(150 * 1024 * 1024);
    await slot.feed.confirm(positions.at(-1)!);
    expect((await slot.feed.state()).position).toEqual(positions.at(-1));
  });

  it('a reading that is left early leaves the slot free, and reports all of it again', async () => {
    const slot = await orders();
    const start = await slot.feed.begin();
    await slot.query('INSERT INTO orders SELECT generate_series(1, 20000)');

    for await (const { position } of slot.feed.read(start, new AbortController().signal)) {
      expect(position).toBe(null);
      break;
    }

    expect(await slot.source.connections()).toBe(0);
    expect(keysOf(await groupsFrom(slot.feed, start))).toHaveLength(20_000);
  });
});

it('puts many small transactions into one group', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  for (let id = 1; id <= 20; id++) await slot.query('INSERT INTO orders VALUES ($1)', [id]);
  const groups = await groupsFrom(slot.feed, start);
  expect(groups).toHaveLength(1);
  expect(keysOf(groups)).toHaveLength(20);
});

it('reads rows of some megabytes, of which it needs only the key', async () => {
  const slot = await orders();
  await slot.query('ALTER TABLE orders ALTER note SET STORAGE EXTERNAL');
  const start = await slot.feed.begin();
  await slot.query(`INSERT INTO orders SELECT i, repeat('x', 3000000) FROM generate_series(1, 12) i`);
  expect(keysOf(await groupsFrom(slot.feed, start))).toHaveLength(12);
});

/** Another program that follows the slot, until it is made to leave. */
async function occupy(slot: Slot): Promise<() => Promise<void>> {
  const options = { connectionString: slot.url, replication: 'database' };
  const other = new pg.Client(options);
  other.on('error', () => undefined);
  await other.connect();
  const following = other
    .query(`START_REPLICATION SLOT ${slot.name} LOGICAL 0/0 (proto_version '1', publication_names '${slot.name}')`)
    .catch(() => undefined);
  const activePid = async () =>
    (
      await slot.query<{ pid: number | null }>(
        'SELECT active_pid AS pid FROM pg_replication_slots WHERE slot_name = $1',
        [slot.name],
      )
    )[0]!.pid;
  while ((await activePid()) === null) await sleep(5);
  return async () => {
    await slot.query('SELECT pg_terminate_backend($1)', [await activePid()]);
    await following;
  };
}

it('waits while another session uses the slot', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await slot.query('INSERT INTO orders SELECT generate_series(1, 5000)');
  const leave = await occupy(slot);
  const reading = groupsFrom(slot.feed, start);
  await Promise.race([reading, sleep(300)]);
  await leave();

  const groups = await reading;
  expect(keysOf(groups)).toHaveLength(5000);
  await slot.feed.confirm(positionAfter(groups, start));
});

it('says so if another session does not leave the slot', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  const leave = await occupy(slot);
  const session = openPostgresSession({ connection: slot.url, poolMax: 1, statementTimeout: 10 });
  onTestFinished(() => session.close());
  const impatient = openSlotFeed(new ConnectedDatabase(postgres, session, undefined), slot.config, {
    reading: 60_000,
    inUse: 10,
    open: 10,
  });
  const error = {
    code: 'source_query_failed',
    message: expect.stringMatching(/55006: another session uses/) as string,
  };

  await expect(groupsFrom(impatient, start)).rejects.toMatchObject(error);
  await slot.query('INSERT INTO orders VALUES (1)');
  const [{ at }] = (await slot.query<{ at: string }>('SELECT pg_current_wal_flush_lsn()::text AS at')) as [
    { at: string },
  ];
  await expect(impatient.confirm({ ...start, at })).rejects.toMatchObject(error);
  await leave();
});

it.each([1, 2])('ends a reading that is given up, with %i connections in the pool', async (poolMax) => {
  const slot = await orders();
  const source = openSource({ connection: slot.url, poolMax, statementTimeout: 30 });
  onTestFinished(() => source.close());
  const feed = source.changes(slot.config);
  const start = await feed.begin();
  await slot.query('INSERT INTO orders SELECT generate_series(1, 600000)');
  const controller = new AbortController();

  const reading = groupsFrom(feed, start, controller.signal);
  const isReading = async () =>
    (await slot.query('SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active', [slot.name])).length > 0;
  while (!(await isReading())) await sleep(1);
  controller.abort(new Error('given up'));

  await expect(reading).rejects.toThrow('given up');
  while (await isReading()) await sleep(5);
  await expect(groupsFrom(feed, start, AbortSignal.abort(new Error('never begun')))).rejects.toThrow('never begun');
  expect((await feed.state()).problem).toBe(null);
});
