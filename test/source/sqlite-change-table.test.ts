/** What is special about change tables of SQLite: REPLACE, files that cannot be written, and unfit tables. */
import BetterSqlite from 'better-sqlite3';
import { chmodSync, copyFileSync, renameSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isHere } from '../here.js';
import { unwritable } from '../unwritable-folders.js';
import { literalsOf, textOfLiteral } from '../../src/source/sqlite/change-table/quoted-values.js';
import { createChangeTable, keysFrom, turnOf } from './change-table-database.js';
import { sqlite } from './dialect-databases.js';
import { groupsFrom, keysOf } from './slot-server.js';

const ORDERS = 'CREATE TABLE orders (id INTEGER PRIMARY KEY, no TEXT UNIQUE)';
const fileOf = (url: string): string => url.slice('sqlite:'.length);

vi.mock('node:fs/promises', async (original) =>
  (await import('../unwritable-folders.js')).withUnwritable(original as () => Promise<typeof Files>),
);

describe.runIf(isHere('SQLite'))('a change table of SQLite', () => {
  it('says that rows which REPLACE removes are told only if the writer wants it, and tells them then', async () => {
    const { feed, planned, url } = await createChangeTable(sqlite, ORDERS, { orders: ['id'] });
    expect((await feed.installation(await planned({ orders: ['id'] }))).findings).toMatchObject([
      { kind: 'not-recorded', blocks: false, text: expect.stringContaining('recursive_triggers') as string },
    ]);
    const start = await feed.begin();
    const db = new BetterSqlite(fileOf(url));
    db.exec(`INSERT INTO orders VALUES (1, 'a'), (2, 'b'); REPLACE INTO orders VALUES (2, 'c')`);
    const [keys, position] = await turnOf(feed, start);
    expect(keys).toEqual(['orders:1', 'orders:2']);
    db.exec(`PRAGMA recursive_triggers = ON; REPLACE INTO orders VALUES (3, 'a')`);
    db.close();
    expect((await keysFrom(feed, position))[0]).toEqual(['orders:1', 'orders:3']);
  });

  it('says that nobody prunes a file whose folder cannot be written', async () => {
    const { feed, planned, url, run } = await createChangeTable(sqlite, 'CREATE TABLE t (id INTEGER PRIMARY KEY)', {
      t: ['id'],
    });
    const start = await feed.begin();
    await run('INSERT INTO t VALUES (1)');
    const folder = dirname(fileOf(url));
    chmodSync(folder, 0o500);
    unwritable.add(folder);
    try {
      const [keys, position] = await turnOf(feed, start);
      expect(keys).toEqual(['t:1']);
      expect((await keysFrom(feed, start))[0]).toEqual(['t:1']);
      expect((await feed.installation(await planned({ t: ['id'] }))).findings).toMatchObject([{ kind: 'not-pruned' }]);
      expect((await keysFrom(feed, position))[0]).toEqual([]);
    } finally {
      unwritable.delete(folder);
      chmodSync(folder, 0o700);
    }
  });

  it('leaves the changes of a file alone that has replaced the one which was read, and says that others are lost', async () => {
    const tables = { orders: ['id'] };
    const { feed, url, run } = await createChangeTable(sqlite, ORDERS, tables);
    const other = await createChangeTable(sqlite, ORDERS, tables);
    const start = await feed.begin();
    await run(`INSERT INTO orders VALUES (1, 'a')`);
    await other.run(`INSERT INTO orders VALUES (7, 'b')`);
    const otherStart = { ...(await other.feed.begin()), at: '0' };
    const [keys, position] = await keysFrom(feed, start);
    expect(keys).toEqual(['orders:1']);

    copyFileSync(fileOf(other.url), `${fileOf(url)}.new`);
    renameSync(`${fileOf(url)}.new`, fileOf(url));

    await expect(feed.confirm(position)).rejects.toMatchObject({ code: 'changes_lost' });
    await expect(keysFrom(feed, position)).rejects.toMatchObject({ code: 'changes_lost' });
    expect((await keysFrom(feed, otherStart))[0]).toEqual(['orders:7']);
  });

  it('refuses a view', async () => {
    const { feed, planned } = await createChangeTable(sqlite, `${ORDERS}; CREATE VIEW v AS SELECT 1 AS id`, {});
    const { findings } = await feed.installation(await planned({ v: ['id'], orders: ['id'] }));
    expect(findings.filter(({ blocks }) => blocks)).toMatchObject([{ kind: 'not-publishable', table: { name: 'v' } }]);
  });

  it('has the columns that any mapping needs of a table, whichever is declared first', async () => {
    const { feed, planned, run, runAll } = await createChangeTable(
      sqlite,
      'CREATE TABLE lines (order_no INT, line INT, sku TEXT, PRIMARY KEY (order_no, line))',
      {},
    );
    const [whole, order] = [await planned({ lines: ['order_no', 'line'] }), await planned({ lines: ['order_no'] })];
    await runAll((await feed.installation([...order, ...whole])).statements);
    expect((await feed.installation([...whole, ...order])).statements).toEqual([]);
    const start = await feed.begin();
    await run(`INSERT INTO lines VALUES (7, 1, 'a')`);
    await run('UPDATE lines SET order_no = 8');
    const groups = await groupsFrom(feed, start);
    expect(groups[0]!.rows).toMatchObject([{ columns: ['order_no', 'line'] }]);
    expect(keysOf(groups)).toEqual(['lines:7|1', 'lines:8|1']);
  });
});

describe('what quote() has written', () => {
  it.each([
    [`1,'a','it''s, "b"',X'00FF',NULL,-2.5e+10`, ['1', `'a'`, `'it''s, "b"'`, `X'00FF'`, null, '-2.5e+10']],
    [`''`, [`''`]],
    [`X''`, [`X''`]],
  ])('%s is taken apart', (list, literals) => {
    expect(literalsOf(list)).toEqual(literals);
  });

  it.each([
    [`'it''s'`, true, `it's`],
    [`X'C3AB'`, true, 'ë'],
    [`X'C3AB'`, false, '\\xc3ab'],
    ['9223372036854775807', false, '9223372036854775807'],
    ['1.0', false, '1'],
    ['9.0e+999', false, 'Infinity'],
  ])('%s, in a column of text: %s, is %s', (literal, isText, text) => {
    expect(textOfLiteral(literal, isText)).toBe(text);
  });
});
