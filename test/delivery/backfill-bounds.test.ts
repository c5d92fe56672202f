/** The bounds of a backfill are points in time, whatever zone a mapping names for a column that has one of its own. */
import { expect, it } from 'vitest';
import { partitionsOf } from '../../src/delivery/run/partitions-of.js';
import type { OpenMapping } from '../../src/delivery/dependencies.js';
import { here, TEST_DIALECTS } from '../source/dialect-databases.js';
import { ALL, open, plan, readAll } from '../source/reading.js';

it.each(here(TEST_DIALECTS))('reads the same half hour in $name', async ({ create, instant, local, speaks }) => {
  const database = await create();
  const source = open(database.url);
  try {
    await database.run(`CREATE TABLE orders (id int PRIMARY KEY, made ${instant}, at ${local})`);
    if (speaks === 'mysql') await database.run(`SET time_zone = '+00:00'`);
    // 08:45 in UTC is 17:45 in Tokyo.
    for (const [id, time] of [
      [1, '08:45'],
      [2, '17:45'],
      [3, '23:45'],
    ])
      await database.run(`INSERT INTO orders VALUES (${id}, '2026-07-01 ${time}:00', '2026-07-01 ${time}:00')`);
    const idsBy = async (cursor: string, cursorZone: string | null): Promise<string> => {
      const read = { ...plan('orders', ['id'], cursor), cursorZone };
      const spec = { name: 'orders', cursor: { column: cursor, overlap: 0 }, feed: null };
      const input = { sync: 'shop', from: '2026-07-01T08:30:00Z', to: '2026-07-01T09:00:00Z' };
      const mapping = { plan: read, spec } as unknown as OpenMapping;
      const [range] = await partitionsOf(
        { source },
        mapping,
        { mode: 'backfill', input },
        { stored: null, tenantMoves: 0 },
      );
      const rows = await readAll(source, read, 5, { ...ALL, ...range, after: null });
      return rows.map((row) => row.split('|')[0]).join();
    };
    expect(await idsBy('at', 'UTC')).toBe('1');
    expect(await idsBy('at', 'Asia/Tokyo')).toBe('2');
    // In SQLite, any column contains what an application writes.
    for (const zone of speaks === 'sqlite' ? ['UTC'] : [null, 'UTC', 'Asia/Tokyo'])
      expect(await idsBy('made', zone)).toBe('1');
  } finally {
    await source.close();
    await database.drop();
  }
});
