/** What only SQLite does: values of any type in any column, and texts that are not UTF-8. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite, { type Database } from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Source } from '../../src/domain/source/source.js';
import { isHere } from '../here.js';
import { sqlite, type TestDatabase } from './dialect-databases.js';
import { ALL, open, plan, readAll } from './reading.js';

describe.skipIf(!isHere('SQLite')).each([sqlite])('$name', ({ create }) => {
  let database: TestDatabase;
  let source: Source;
  beforeAll(async () => {
    database = await create();
    await database.run('PRAGMA journal_mode = WAL');
    source = open(database.url);
  });
  afterAll(async () => {
    await source?.close();
    await database?.drop();
  });

  it('reads a table in one part if a column of integers holds something else', async () => {
    for (const [i, values] of [`(1), ('A-17')`, '(1.5), (2)'].entries()) {
      await database.run(`CREATE TABLE loose_${i} (id int NOT NULL UNIQUE); INSERT INTO loose_${i} VALUES ${values}`);
      expect(await source.splitKeys(plan(`loose_${i}`, ['id']), 1)).toEqual([{ after: null, through: null }]);
    }
  });

  it('reads back by the overlap, and ahead, whatever type the column of the cursor was declared as', async () => {
    await database.run(`CREATE TABLE stamped (id int PRIMARY KEY, texts text, untyped, times datetime, counters int)`);
    const at = '2026-03-29 02:10:00';
    const moved = (column: string, seconds: number, zone: string | null = null) =>
      source.cursorMinus({ ...plan('stamped', ['id'], column), cursorZone: zone }, at, seconds);
    for (const column of ['texts', 'untyped', 'times']) {
      expect(await moved(column, 600), column).toBe('2026-03-29 02:00:00');
      expect(await moved(column, -60), column).toBe('2026-03-29 02:11:00');
      expect(await moved(column, 3600, 'Europe/London'), column).toBe('2026-03-29 00:10:00');
    }
    expect(await source.cursorMinus(plan('stamped', ['id'], 'counters'), '7', 600)).toBe('7');
  });

  it('writes the high watermark as most rows are, although one lies far ahead and is written otherwise', async () => {
    await database.run(
      `CREATE TABLE sentinels (id int PRIMARY KEY, at text);
       INSERT INTO sentinels VALUES (1, datetime('now')), (2, '9999-12-31'), (3, 'infinity')`,
    );
    const read = { ...plan('sentinels', ['id'], 'at'), cursorZone: 'UTC' };
    expect(await source.highWatermark(read)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    await database.run('DELETE FROM sentinels WHERE id <> 2');
    expect(await source.highWatermark(read)).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it.each([
    ['is no valid text', `('a'), (CAST(x'c3' AS text)), (CAST(x'c8' AS text))`, 'is not valid text'],
    ['is bytes', `('b'), ('c'), (x'61'), (x'62')`, 'does not find a row by the text of its key'],
  ])('refuses a key by which it would skip or repeat rows, as one of a row %s', async (name, values, reason) => {
    const table = `odd_${name.replaceAll(' ', '_')}`;
    await database.run(`CREATE TABLE ${table} (id text PRIMARY KEY); INSERT INTO ${table} VALUES ${values}`);
    await expect(readAll(source, plan(table, ['id']), 100)).rejects.toThrow(reason);
  });

  it('gives each row its own text if a row is written while texts that are not UTF-8 are read again', async () => {
    await database.run(
      `CREATE TABLE latin (id int PRIMARY KEY, name text);
       INSERT INTO latin VALUES (2, CAST(x'4afc7267' AS text)), (3, CAST(x'52e96d79' AS text))`,
    );
    // oxlint-disable-next-line typescript/unbound-method -- called with the database
    const { prepare } = BetterSqlite.prototype;
    const writer = await database.connect();
    const prepared = vi.spyOn(BetterSqlite.prototype, 'prepare').mockImplementation(function (this: Database, sql) {
      if (sql.startsWith('WITH page')) void writer.run(`INSERT INTO latin VALUES (1, 'Ann')`);
      return prepare.call(this, sql);
    });
    onTestFinished(async () => {
      prepared.mockRestore();
      await writer.end();
    });
    const page = await source.readPage(plan('latin', ['id'], null, ['name']), ALL, 10);
    // A byte that is no UTF-8 is read as a lone surrogate.
    expect([...page.rows]).toEqual([
      ['2', 'J\udcfcrg'],
      ['3', 'R\udce9my'],
    ]);
    expect(await readAll(source, plan('latin', ['id']), 10)).toEqual(['1', '2', '3']);
  });

  it('says that its file is gone, even while a connection has it open', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'partner-sync-sqlite-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'shop.db');
    new BetterSqlite(file).exec('CREATE TABLE shop (id int PRIMARY KEY); INSERT INTO shop VALUES (1)').close();
    const shop = open(`sqlite:${file}`);
    onTestFinished(() => shop.close());
    expect(await readAll(shop, plan('shop', ['id']), 10)).toEqual(['1']);

    renameSync(file, `${file}.away`);

    await expect(readAll(shop, plan('shop', ['id']), 10)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(file) as string,
    });
  });
});
