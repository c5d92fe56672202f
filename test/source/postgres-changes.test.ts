/** Changes of a real server as its slot reports them. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../pipeline/shop.js';
import {
  createSlot,
  groupsFrom,
  keysOf,
  positionAfter,
  startSlotServer,
  turn,
  type SlotServer,
} from './slot-server.js';

let server: SlotServer;

beforeAll(async () => {
  server = await startSlotServer();
});
afterAll(() => server.stop());

const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, note text)';
const orders = () => createSlot(server, ORDERS, { orders: 'id' });

it('reports the key of each inserted, changed and deleted row, and both keys of a row whose key has changed', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query(`INSERT INTO orders VALUES (1, 'a'), (2, 'b')`);
  await slot.query(`UPDATE orders SET note = 'c' WHERE id = 1`);
  await slot.query('UPDATE orders SET id = 3 WHERE id = 2');
  await slot.query('DELETE FROM orders WHERE id = 1');

  const [keys, position] = await turn(feed, start);

  expect(keys).toEqual(['orders:1', 'orders:2', 'orders:1', 'orders:2', 'orders:3', 'orders:1']);
  expect((await turn(feed, position))[0]).toEqual([]);
});

it('says which columns the keys are of, and when the last change was committed', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query(`INSERT INTO orders VALUES (1, 'a')`);
  const [{ at }] = (await slot.query<{ at: Date }>('SELECT clock_timestamp() AS at')) as [{ at: Date }];

  const [group] = await groupsFrom(feed, start);

  expect(group!.rows).toEqual([{ table: { schema: 'public', name: 'orders' }, columns: ['id'], keys: [['1']] }]);
  expect(group!.committedAt!.getTime()).toBeLessThanOrEqual(at.getTime());
  expect(group!.committedAt!.getTime()).toBeGreaterThan(at.getTime() - 3_600_000);
});

it('reports nothing of a transaction that is rolled back, and all of one that was open during a turn', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  const [open, undone] = [await slot.connect(), await slot.connect()];
  onTestFinished(async () => void (await Promise.all([open.end(), undone.end()])));
  for (const writer of [open, undone]) await writer.query('BEGIN');
  await open.query('INSERT INTO orders VALUES (1)');
  await undone.query('INSERT INTO orders VALUES (2)');
  await slot.query('INSERT INTO orders VALUES (3)');

  const [during, position] = await turn(feed, start);
  await open.query('INSERT INTO orders VALUES (4)');
  await open.query('COMMIT');
  await undone.query('ROLLBACK');
  const [after] = await turn(feed, position);

  expect(during).toEqual(['orders:3']);
  expect(after).toEqual(['orders:1', 'orders:4']);
});

it('reports a table that TRUNCATE has emptied', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query('INSERT INTO orders VALUES (1)');
  await slot.query('TRUNCATE orders');

  const groups = await groupsFrom(feed, start);

  expect(groups.flatMap(({ truncated }) => truncated)).toEqual([{ schema: 'public', name: 'orders' }]);
});

it('reports partitions under the name of their table', async (context) => {
  if (server.version < 13) context.skip('partitioned tables can be published since PostgreSQL 13');
  const slot = await createSlot(
    server,
    `CREATE TABLE visits (id int, day date, note text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
     CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
     CREATE TABLE visits_2 PARTITION OF visits FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')`,
    { visits: 'id, day' },
  );
  const { feed } = slot;
  const start = await feed.begin();
  expect((await feed.state()).tables).toMatchObject([{ schema: 'public', name: 'visits' }]);
  await slot.query(`INSERT INTO visits VALUES (1, '2024-05-01')`);
  await slot.query(`UPDATE visits SET day = '2025-05-01'`);
  await slot.query('TRUNCATE visits');

  const groups = await groupsFrom(feed, start);

  expect(keysOf(groups)).toEqual(['visits:1|2024-05-01', 'visits:1|2024-05-01', 'visits:1|2025-05-01']);
  expect(groups.flatMap(({ truncated }) => truncated)).toEqual([{ schema: 'public', name: 'visits' }]);
});

it('moves on although only tables change that it does not report', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query('CREATE TABLE others (id int); INSERT INTO others SELECT generate_series(1, 1000)');

  const groups = await groupsFrom(feed, start);
  const end = positionAfter(groups, start);
  await feed.confirm(end);

  expect(keysOf(groups)).toEqual([]);
  expect(end).not.toEqual(start);
  expect((await feed.state()).position).toEqual(end);
});

it('lets the server free its log with one confirmation, though a long time has passed', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  for (let i = 0; i < 5; i++) {
    await slot.query(`SELECT pg_logical_emit_message(true, 'filler', repeat('x', 2 << 20))`);
    // The server marks where decoding may begin.
    await slot.query('CHECKPOINT');
  }
  expect((await feed.state()).keptBytes).toBeGreaterThan(4 << 20);

  await feed.confirm(positionAfter(await groupsFrom(feed, start), start));

  expect((await feed.state()).keptBytes).toBeLessThan(1 << 20);
});

it('repeats what was not confirmed, but skips what is before the position that it is given', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query('INSERT INTO orders VALUES (1)');
  const first = await groupsFrom(feed, start);
  await slot.query('INSERT INTO orders VALUES (2)');

  expect(keysOf(await groupsFrom(feed, start))).toEqual(['orders:1', 'orders:2']);
  expect(keysOf(await groupsFrom(feed, positionAfter(first, start)))).toEqual(['orders:2']);
});

it('may have changes from the commit on until it was read to its end', async () => {
  const slot = await orders();
  const { feed } = slot;
  let position = await feed.begin();
  const untilRead = () =>
    eventually('that all is read', async () => {
      position = positionAfter(await groupsFrom(feed, position), position);
      // Now and then, the server writes something for itself.
      return !(await feed.mayHaveChanges(position));
    });
  await untilRead();

  await slot.query('INSERT INTO orders VALUES (1)');
  expect(await feed.mayHaveChanges(position)).toBe(true);
  await untilRead();
});

it('does not mind being told of a position again, or of one that is older than the last', async () => {
  const slot = await orders();
  const { feed } = slot;
  const start = await feed.begin();
  await slot.query('INSERT INTO orders VALUES (1)');
  const end = positionAfter(await groupsFrom(feed, start), start);

  for (const position of [end, end, start]) await feed.confirm(position);

  expect((await feed.state()).position).toEqual(end);
});
