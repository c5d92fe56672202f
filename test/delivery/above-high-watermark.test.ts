/** What an incremental run reads of the rows above a high watermark that an open transaction holds back. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { partitionsOf } from '../../src/delivery/run/partitions-of.js';
import type { OpenMapping } from '../../src/delivery/dependencies.js';
import type { Source } from '../../src/domain/source/source.js';
import { here, mariadb, mysql, postgres, type TestDatabase } from '../source/dialect-databases.js';
import { ALL, open, plan, readAll } from '../source/reading.js';

describe.each(here([postgres, mariadb, mysql]))('$name', ({ create, instant, now }) => {
  let database: TestDatabase;
  let source: Source;
  beforeAll(async () => {
    database = await create();
    source = open(database.url);
  });
  afterAll(async () => {
    await source?.close();
    await database?.drop();
  });

  // The column has a zone of its own, so this one is not used.
  const orders = { ...plan('orders', ['id'], 'at'), cursorZone: 'Asia/Tokyo' };

  /** The ids that each partition of a run reads which begins `minutes` from now. */
  const readIn = async (minutes: number, ledger: 'full' | 'off' = 'full') => {
    const server = await source.server();
    const clock = new Date(Date.parse(server.clock) + minutes * 60_000).toISOString();
    vi.spyOn(source, 'server').mockResolvedValueOnce({ ...server, clock });
    const spec = { name: 'orders', cursor: { column: 'at', overlap: 0 }, feed: null, options: { ledger } };
    const mapping = { plan: orders, spec } as unknown as OpenMapping;
    const run = { mode: 'incremental', input: { sync: 'shop' } };
    const partitions = await partitionsOf({ source }, mapping, run, { stored: null, tenantMoves: 0 });
    return Promise.all(
      partitions.map(async ({ movesPosition, cursorFrom, cursorBefore }) => {
        const rows = await readAll(source, orders, 10, { ...ALL, cursorFrom, cursorBefore });
        return { movesPosition, ids: rows.map((row) => Number(row.split('|')[0])) };
      }),
    );
  };

  it('reads those up to the clock once it has been open for a minute, and leaves the position to the transaction', async () => {
    await database.run(`CREATE TABLE orders (id int PRIMARY KEY, at ${instant} DEFAULT ${now})`);
    await database.run('INSERT INTO orders (id) VALUES (1)');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const older = await database.connect();
    onTestFinished(() => older.end());
    await older.run('BEGIN');
    await older.run('INSERT INTO orders (id) VALUES (2)');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await database.run('INSERT INTO orders (id) VALUES (3)');

    expect(await readIn(0)).toEqual([{ movesPosition: true, ids: [1] }]);
    expect(await readIn(2)).toEqual([
      { movesPosition: false, ids: [3] },
      { movesPosition: true, ids: [1] },
    ]);
    // Each run would send them again.
    expect(await readIn(2, 'off')).toEqual([{ movesPosition: true, ids: [1] }]);

    await older.run('COMMIT');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await readIn(0)).toEqual([{ movesPosition: true, ids: [1, 2, 3] }]);
  });
});
