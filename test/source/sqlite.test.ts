/** What only SQLite does: values of any type in any column, and texts that are not UTF-8. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite, { type Database } from 'better-sqlite3';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Source } from '../../src/domain/source/source.js';
import { isHere } from '../here.js';
import { sqlite, type TestDatabase } from './dialect-databases.js';
import { ALL, open, plan, query, readAll } from './reading.js';

const SECONDS = `strftime('%Y-%m-%dT%H:%M:%S', 'now')`;
const ISO_NOW = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`;

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
    ['as CURRENT_TIMESTAMP and as toISOString() write it', `datetime('now')`, ISO_NOW, '0000-00-00T00:00:00.000Z'],
    ['as a number', `datetime('now')`, `unixepoch('now')`, '0000000000'],
    ['as nothing', `datetime('now')`, `''`, '""'],
    ['with the day first', `datetime('now')`, `strftime('%d/%m/%Y %H:%M', 'now')`, '00/00/0000 00:00'],
    ['with the day first, the 20th', `datetime('now')`, `'20/1/2026'`, '00/0/0000'],
    ['without a time', `datetime('now')`, `date('now')`, '"0000-00-00"'],
    ['without seconds', `datetime('now')`, `strftime('%Y-%m-%d %H:%M', 'now', '-1 hour')`, '"0000-00-00 00:00"'],
    ['with a zone', `datetime('now')`, `datetime('now', '-2 hours') || '-02:00'`, '0000-00-00 00:00:00-00:00'],
    ['with UTC in two ways', `${SECONDS} || 'Z'`, `${SECONDS} || '+00:00'`, '0000-00-00T00:00:00+00:00'],
    ['otherwise for the first time in days', `datetime('now', '-9 days')`, ISO_NOW, '0000-00-00T00:00:00.000Z'],
  ])('refuses a cursor that another row has %s, by which rows would never be read', async (_, one, other, shown) => {
    for (const [i, type] of ['datetime', 'text', ''].entries()) {
      await database.run(
        `DROP TABLE IF EXISTS mixed_${i}; CREATE TABLE mixed_${i} (id int PRIMARY KEY, at ${type}); CREATE INDEX mixed_at_${i} ON mixed_${i} (at);
         INSERT INTO mixed_${i} VALUES (1, ${one}), (2, ${other})`,
      );
      const high = source.highWatermark({ ...plan(`mixed_${i}`, ['id'], 'at'), cursorZone: 'UTC' });
      await expect(high, type).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(shown) as string,
      });
    }
  });

  it('takes dates of long ago, and any number of digits of a second, for one format of a cursor', async () => {
    await database.run(
      `CREATE TABLE of_old (id int PRIMARY KEY, at datetime);
       INSERT INTO of_old VALUES (1, '0000-00-00 00:00:00'), (2, '1900-01-01'), (3, '1998-12-31T00:00:00Z'), (6, '1999-12-31 00:00:00'),
         (4, datetime('now')), (5, strftime('%Y-%m-%d %H:%M:%f', 'now'))`,
    );
    const read = { ...plan('of_old', ['id'], 'at'), cursorZone: 'UTC' };
    expect(await source.highWatermark(read)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it.each(['', 'Z', '+00:00'])(
    'takes a high watermark above which each later time is, however many digits it has, before "%s"',
    async (suffix) => {
      await database.run('DROP TABLE IF EXISTS digits; CREATE TABLE digits (id int PRIMARY KEY, at text)');
      const read = { ...plan('digits', ['id'], 'at'), cursorZone: 'UTC' };
      for (const latest of ['', '.9', '.123', '.123456']) {
        await database.run(
          `DELETE FROM digits; INSERT INTO digits VALUES (1, strftime('%Y-%m-%dT%H:%M:%S', 'now', '-1 minute') || '${latest}${suffix}'),
             (2, strftime('%Y-%m-%dT%H:%M:%S', 'now', '-2 minutes') || '${suffix}')`,
        );
        const high = await source.highWatermark(read);
        const now = Temporal.Now.instant().toString({ fractionalSecondDigits: 9 });
        for (const length of [19, 21, 22, 23, 26, 29])
          expect(now.slice(0, length) + suffix >= high, `${now} at ${length} ${high}`).toBe(true);
      }
    },
  );

  it.each([
    ['is no valid text', `('a'), (CAST(x'c3' AS text)), (CAST(x'c8' AS text))`, 'is not valid text'],
    ['is bytes', `('b'), ('c'), (x'61'), (x'64')`, 'does not find a row by the text of its key'],
    ['is the bytes of another', `('b'), ('c'), (x'62')`, 'several rows share it'],
  ])('refuses a key by which it would skip or repeat rows, as one of a row %s', async (name, values, reason) => {
    const table = `odd_${name.replaceAll(' ', '_')}`;
    await database.run(`CREATE TABLE ${table} (id text PRIMARY KEY); INSERT INTO ${table} VALUES ${values}`);
    await expect(readAll(source, plan(table, ['id']), 100)).rejects.toThrow(reason);
  });

  it.each([
    ['bytes in a column without a type', '', `(x'0197'), (x'01aa'), (x'02'), (x'7a'), ('m')`],
    ['bytes in a copy of a table', 'AS SELECT', ''],
    ['large numbers in a column without a type', '', '(1e21), (1), (15), (100), (19), (2), (1.5e21), (3)'],
    ['numbers in a column of bytes', 'blob', '(1), (2), (3), (10), (11)'],
    ['bytes in a column of texts', 'text', `(x'61'), ('a'), ('b'), ('c'), (x'62')`],
    ['bytes in a column of UUIDs', 'uuid', `(x'0197'), (x'01aa'), (x'02'), (x'7a')`],
    ['hexadecimal digits in a column of numbers', 'integer', `('0x10'), (17), (18), ('0a'), ('b')`],
    ['an infinite number as text', 'decimal(9, 2)', `('Infinity'), (17), (18), ('z'), (9e999)`],
    ['texts in a column of booleans', 'boolean', `('t'), (1), (0), ('f'), ('x')`],
  ])('skips and repeats no row whose key is not of the type of its column: %s', async (name, type, values) => {
    const table = name.replaceAll(/\W/g, '_');
    await database.run(
      type === 'AS SELECT'
        ? `CREATE TABLE ${table} AS SELECT CAST(char(i + 64) AS blob) AS id FROM ${sqlite.numbers(9)}`
        : `CREATE TABLE ${table} (id ${type} NOT NULL UNIQUE); INSERT INTO ${table} VALUES ${values}`,
    );
    const all = await readAll(source, query(`SELECT rowid AS n FROM ${table}`, ['n'], ['n']), 100);
    for (const limit of [1, 2, 3, 100]) {
      const ends = (page: number): Promise<void> => {
        expect(page, 'pages').toBeLessThan(20);
        return Promise.resolve();
      };
      const read = await readAll(source, plan(table, ['id']), limit, ALL, ends).catch((error: unknown) => error);
      if (read instanceof Error) expect(read, String(limit)).toMatchObject({ code: 'source_key_unusable' });
      else expect(read, String(limit)).toHaveLength(all.length);
    }
  });

  it.each([
    ['UNION ALL, numbers first', 'SELECT id, at FROM numbered UNION ALL SELECT id, at FROM named'],
    ['UNION ALL, texts first', 'SELECT id, at FROM named UNION ALL SELECT id, at FROM numbered'],
    ['UNION, numbers first', 'SELECT id, at FROM numbered UNION SELECT id, at FROM named'],
    ['UNION, texts first', 'SELECT id, at FROM named UNION SELECT id, at FROM numbered'],
  ])('refuses a view and a query that have numbers and texts in the key or cursor: %s', async (name, sql) => {
    await database.run(
      `CREATE TABLE IF NOT EXISTS numbered (id integer PRIMARY KEY, at integer NOT NULL); CREATE TABLE IF NOT EXISTS named (id text PRIMARY KEY, at text NOT NULL);
       INSERT OR IGNORE INTO numbered SELECT i, i FROM ${sqlite.numbers(10)};
       INSERT OR IGNORE INTO named VALUES ('100', 'a'), ('200', 'b'), ('7x', 'c'), ('A1', 'd')`,
    );
    const view = name.replaceAll(/\W/g, '_');
    const cast = `SELECT CAST(id AS text) AS id, CAST(at AS text) AS at FROM (${sql})`;
    await database.run(`CREATE VIEW ${view} AS ${sql}; CREATE VIEW ${view}_cast AS ${cast}`);
    for (const read of [
      plan(view, ['id']),
      query(sql, ['id'], ['id']),
      query(cast.replace('CAST(at AS text) AS', ''), ['id', 'at'], ['id'], 'at'),
    ])
      await expect(readAll(source, read, 3)).rejects.toMatchObject({
        code: 'source_key_unusable',
        message: expect.stringContaining('CAST it to one type') as string,
      });
    expect(await readAll(source, plan(`${view}_cast`, ['id']), 3)).toHaveLength(14);
    expect(await readAll(source, query(cast, ['id', 'at'], ['id'], 'at'), 3)).toHaveLength(14);
  });

  it('takes whole numbers and fractions of a view for one type', async () => {
    await database.run(
      `CREATE TABLE amounts (id decimal(9, 2) PRIMARY KEY NOT NULL); INSERT INTO amounts VALUES (1), (2.5), (3), (4.25);
       CREATE VIEW all_amounts AS SELECT id FROM amounts WHERE id < 3 UNION ALL SELECT id FROM amounts WHERE id >= 3`,
    );
    expect(await readAll(source, plan('all_amounts', ['id']), 1)).toEqual(['1', '2.5', '3', '4.25']);
  });

  it('reads bytes in a column without a type by their key, such as in a copy of a table', async () => {
    await database.run(
      `CREATE TABLE copied AS SELECT CAST(char(i + 64) AS blob) AS id FROM ${sqlite.numbers(9)};
       INSERT INTO copied VALUES ('A'), ('7'), (8)`,
    );
    const bytes = Array.from({ length: 9 }, (_, i) => `\\x4${i + 1}`);
    for (const limit of [1, 2, 5])
      expect(await readAll(source, plan('copied', ['id']), limit)).toEqual(['7', '8', 'A', ...bytes]);
    const found = await source.readByValues(plan('copied', ['id']), ['id'], [['\\x41'], ['8']]);
    expect([...found.rows]).toEqual([['8'], ['\\x41']]);
  });

  it.each([
    [
      'of a constraint that does not ignore case, as the column does',
      `id text COLLATE NOCASE NOT NULL, PRIMARY KEY (id COLLATE BINARY)`,
      `('a'), ('A'), ('b'), ('B')`,
    ],
    [
      'of a constraint that ignores less than the column',
      `id text COLLATE NOCASE NOT NULL, UNIQUE (id COLLATE RTRIM)`,
      `('a'), ('A'), ('b'), ('B')`,
    ],
    ['that are numbers and the same as texts', `id NOT NULL PRIMARY KEY`, `(5), ('5'), (6), ('6')`],
  ])(
    'reads keys, or refuses them, if they are only unique by rules by which it does not read them: those %s',
    async (name, columns, values) => {
      const table = name.replaceAll(/\W/g, '_');
      await database.run(`CREATE TABLE ${table} (${columns}); INSERT INTO ${table} VALUES ${values}`);
      for (const limit of [1, 2, 3]) {
        const read = await readAll(source, plan(table, ['id']), limit).catch((error: unknown) => error);
        if (read instanceof Error) expect(read, String(limit)).toMatchObject({ code: 'source_key_unusable' });
        else expect(read, String(limit)).toHaveLength(4);
      }
    },
  );

  it('knows of a constraint that names no other collation than its column that it is unique', async () => {
    await database.run(
      `CREATE TABLE members (id text COLLATE NOCASE NOT NULL PRIMARY KEY, email text collate nocase NOT NULL UNIQUE, name text)`,
    );
    expect(await source.tables(['members'])).toMatchObject([{ uniqueKeys: [['id'], ['email']] }]);
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

  it('reads the file that has the name now, once another one has replaced it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'partner-sync-sqlite-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const fileWith = (name: string, id: number): string => {
      const file = join(folder, name);
      new BetterSqlite(file).exec(`CREATE TABLE shop (id int PRIMARY KEY); INSERT INTO shop VALUES (${id})`).close();
      return file;
    };
    const file = fileWith('shop.db', 1);
    const shop = open(`sqlite:${file}`);
    onTestFinished(() => shop.close());
    expect(await readAll(shop, plan('shop', ['id']), 10)).toEqual(['1']);

    renameSync(fileWith('new.db', 2), file);

    expect(await readAll(shop, plan('shop', ['id']), 10)).toEqual(['2']);
  });
});
