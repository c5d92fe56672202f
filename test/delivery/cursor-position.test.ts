/** Which stored position an incremental run begins at, and which ones say nothing of what it reads. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { partitionsOf } from '../../src/delivery/run/partitions-of.js';
import { cursorPosition } from '../../src/delivery/cursor-position.js';
import type { OpenMapping } from '../../src/delivery/dependencies.js';
import type { Position } from '../../src/ledger/runs/partitions.js';
import type { ReadPlan, Source } from '../../src/domain/source/source.js';
import { here, TEST_DIALECTS, type TestDatabase } from '../source/dialect-databases.js';
import { ALL, open, plan, query, readAll } from '../source/reading.js';

describe.each(here(TEST_DIALECTS))('$name', ({ create, instant, local, name, now }) => {
  let database: TestDatabase;
  let source: Source;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    source = open(database.url);
    await database.run('DROP TABLE IF EXISTS orders');
    await database.run('DROP TABLE IF EXISTS older');
    for (const table of ['orders', 'older'])
      await database.run(`CREATE TABLE ${table} (id int PRIMARY KEY, at ${local} NOT NULL, made ${instant}, day date)`);
    return () => source.close();
  });

  const orders = plan('orders', ['id'], 'at');
  const [london, tokyo] = ['Europe/London', 'Asia/Tokyo'];
  const positionOf = (read: ReadPlan, stored: Position | null) =>
    cursorPosition(source, { plan: read, spec: { cursor: { overlap: 600 } } } as unknown as OpenMapping, {
      stored,
      tenantMoves: 0,
    });
  /** A position that a run has reached which read by this plan. */
  const reached = async (read: ReadPlan, cursor: string): Promise<Position> => ({
    cursor,
    reads: (await positionOf(read, null)).reads,
  });
  /** Where reading by the other plan begins after that. */
  const after = async (first: ReadPlan, second: ReadPlan, cursor = '2020-01-01 10:00:00') =>
    (await positionOf(second, await reached(first, cursor))).cursor;

  it('begins at one in the same rows, whatever else the mapping reads', async () => {
    expect((await positionOf(orders, null)).cursor).toBeNull();
    expect(await after(orders, { ...orders, columns: ['id', 'at', 'day'] })).toBe('2020-01-01 10:00:00');
    expect(await after(plan('orders', ['id'], 'day'), plan('orders', ['id'], 'day'), '2020-01-01')).toBe('2020-01-01');
  });

  it('does not begin at one in another table, query, column or zone', async () => {
    expect(await after(plan('older', ['id'], 'at'), orders)).toBeNull();
    const some = (where: string) => query(`SELECT * FROM orders WHERE ${where}`, ['id', 'at'], ['id'], 'at');
    expect(await after(some('id > 5'), some('id > 3'))).toBeNull();
    expect(await after(plan('orders', ['id'], 'day'), orders)).toBeNull();
    expect(await after({ ...orders, cursorZone: london }, { ...orders, cursorZone: tokyo })).toBeNull();
    // SQLite has no type of times with a zone: such a column contains what an application writes.
    const made = plan('orders', ['id'], 'made');
    const same = name === 'SQLite' ? null : '2020-01-01 10:00:00';
    expect(await after({ ...made, cursorZone: london }, { ...made, cursorZone: tokyo })).toBe(same);
  });

  it("does not begin at one that is further ahead of the database's clock than the overlap", async () => {
    const clock = Date.parse((await source.server()).clock);
    const inMinutes = async (minutes: number, read: ReadPlan) => {
      const local = new Date(clock + minutes * 60_000 + (read.cursorZone === tokyo ? 9 * 3_600_000 : 0));
      const text = local.toISOString().replace('T', ' ').replace('Z', '');
      return (await positionOf(read, await reached(read, text))).cursor !== null;
    };
    for (const cursorZone of ['UTC', tokyo]) {
      const read = { ...orders, cursorZone };
      expect([await inMinutes(-1, read), await inMinutes(8, read), await inMinutes(12, read)]).toEqual([
        true,
        true,
        false,
      ]);
    }
    // Neither date nor time.
    for (const cursor of ['infinity', '0000-00-00 00:00:00', '\\x00000000000007d1'])
      expect(await after(orders, orders, cursor)).toBe(cursor);
  });

  it('reads again from the first row where an overlap would reach back to before the first year', async () => {
    await database.run(
      `INSERT INTO orders (id, at, made, day) VALUES (1, '0001-01-01 00:00:00', ${now}, '0001-01-01')`,
    );
    for (const cursor of ['at', 'day']) {
      const read = { ...plan('orders', ['id'], cursor), cursorZone: 'UTC' };
      const [first] = await readAll(source, read, 5);
      const spec = {
        name: 'orders',
        cursor: { column: cursor, overlap: 86_400 },
        feed: null,
        options: { ledger: 'full' },
      };
      const mapping = { plan: read, spec } as unknown as OpenMapping;
      const run = { mode: 'incremental', input: { sync: 'shop' } };
      const partitions = await partitionsOf({ source }, mapping, run, {
        stored: await reached(read, first!.split('|')[1]!),
        tenantMoves: 0,
      });
      const pages = partitions.map(({ cursorFrom, cursorBefore }) =>
        readAll(source, read, 5, { ...ALL, cursorFrom, cursorBefore }),
      );
      expect((await Promise.all(pages)).flat()).toContain(first);
    }
  });

  // In SQLite, the type of a column cannot be altered.
  if (name === 'SQLite') return;
  it('knows at once that the column was altered, also where rows were read before', async () => {
    const zoned = { ...orders, cursorZone: tokyo };
    const elsewhere = open(database.url);
    await database.run(`INSERT INTO orders VALUES (1, '2020-01-01 10:00:00', '2020-01-01 10:00:00', '2020-01-01')`);
    for (const one of [source, elsewhere]) expect(await readAll(one, zoned, 5)).toHaveLength(1);
    const before = await reached(zoned, '2020-01-01 10:00:00');
    const inTokyo = Date.parse(`${(await source.highWatermark(zoned)).slice(0, 16)}Z`);

    const to = name === 'PostgreSQL' ? `ALTER at TYPE timestamptz USING at AT TIME ZONE 'UTC'` : `MODIFY at ${instant}`;
    await database.run(`ALTER TABLE orders ${to}`);

    expect((await positionOf(zoned, before)).cursor).toBeNull();
    const cursorBefore = await source.highWatermark(zoned);
    expect((inTokyo - Date.parse(`${cursorBefore.slice(0, 16)}Z`)) / 3_600_000).toBeCloseTo(9, 0);
    for (const one of [source, elsewhere])
      expect(await readAll(one, zoned, 5, { ...ALL, cursorFrom: null, cursorBefore })).toEqual([
        expect.stringContaining('+00') as string,
      ]);
    await elsewhere.close();
  });
});
