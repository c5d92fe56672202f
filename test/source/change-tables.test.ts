/** The contract of change feeds, kept by the change tables of every kind of database. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHANGES, createChangeTable, keysFrom, SET_BACK, turnOf, undisturbed } from './change-table-database.js';
import { COUNT_BOUND } from '../../src/domain/values/quantity.js';
import { chosenTables } from '../../src/init/choose-tables.js';
import { tableMark } from '../../src/source/changes/recorded-source.js';
import { here, TEST_DIALECTS, type TestDialectName } from './dialect-databases.js';
import { plan, readAll } from './reading.js';
import { groupsFrom, positionAfter } from './slot-server.js';

const ORDERS = 'CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, note varchar(40))';

/** The change table and the table beside it, where the dialect keeps them. */
const PLACE: Readonly<Record<TestDialectName, string>> = {
  PostgreSQL: 'partner_sync_changes.',
  MariaDB: '',
  MySQL: '',
  SQLite: '',
};

/** What makes a trigger that records deleted orders in a table of the partner's own. */
const OTHER_TRIGGER: Readonly<Record<TestDialectName, (name: string) => readonly string[]>> = {
  PostgreSQL: (name) => [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO audit VALUES (OLD.id); RETURN NULL; END'`,
    `CREATE TRIGGER ${name} AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ],
  MariaDB: (name) => [`CREATE TRIGGER ${name} AFTER DELETE ON orders FOR EACH ROW INSERT INTO audit VALUES (OLD.id)`],
  MySQL: (name) => [`CREATE TRIGGER ${name} AFTER DELETE ON orders FOR EACH ROW INSERT INTO audit VALUES (OLD.id)`],
  SQLite: (name) => [`CREATE TRIGGER ${name} AFTER DELETE ON orders BEGIN INSERT INTO audit VALUES (OLD.id); END`],
};

describe.each(here(TEST_DIALECTS))('a change table of $name', (listed) => {
  const dialect = undisturbed(listed);
  const changes = `${PLACE[dialect.name]}${CHANGES.table}`;
  const orders = () => createChangeTable(dialect, ORDERS, { orders: ['id'] });

  it('tells the key of each inserted, changed and deleted row, and both keys of a row whose key has changed', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run(`INSERT INTO orders VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')`);
    const [inserted, first] = await turnOf(feed, start);
    expect(inserted).toEqual(['orders:1', 'orders:2', 'orders:3', 'orders:4']);

    await run(`UPDATE orders SET note = 'c' WHERE id = 1`);
    await run('UPDATE orders SET id = 30 WHERE id = 3');
    await run('DELETE FROM orders WHERE id = 2');
    const [changed, second] = await turnOf(feed, first);
    expect(changed).toEqual(['orders:1', 'orders:2', 'orders:3', 'orders:30']);
    expect(await turnOf(feed, second)).toEqual([[], expect.anything()]);
  });

  it('says which table and columns the keys are of', async () => {
    const { feed, run, planned } = await createChangeTable(
      dialect,
      'CREATE TABLE parts (order_no varchar(20) NOT NULL, line integer NOT NULL, note integer, PRIMARY KEY (order_no, line))',
      { parts: ['order_no', 'line'] },
    );
    const { table } = (await planned({ parts: ['order_no', 'line'] }))[0]!;
    expect((await feed.state()).tables).toMatchObject([table]);
    const start = await feed.begin();
    await run(`INSERT INTO parts VALUES ('it''s "1"', 7, NULL)`);
    const rows = (await groupsFrom(feed, start)).flatMap((group) => group.rows);
    expect(rows).toEqual([{ table, columns: ['order_no', 'line'], keys: [[`it's "1"`, '7']] }]);
  });

  it('tells nothing of a transaction that is rolled back', async () => {
    const { feed, run, connect } = await orders();
    const start = await feed.begin();
    const writer = await connect();
    onTestFinished(() => writer.end());
    await writer.run('BEGIN');
    await writer.run('INSERT INTO orders VALUES (1, NULL)');
    await writer.run('ROLLBACK');
    await run('INSERT INTO orders VALUES (2, NULL)');
    const [keys] = await turnOf(feed, start);
    expect(keys).toEqual(['orders:2']);
  });

  it('reads a change of many rows in parts, and keeps nothing of it once it is confirmed', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run(`INSERT INTO orders SELECT i, NULL FROM ${dialect.numbers(25_000)}`);
    const groups = await groupsFrom(feed, start);
    expect(groups.length).toBeGreaterThanOrEqual(3);
    const keys = groups.flatMap(({ rows }) => rows.flatMap((of) => of.keys.map(([key]) => Number(key))));
    expect(keys).toHaveLength(25_000);
    expect(new Set(keys).size).toBe(25_000);

    // A reading that was interrupted goes on from any of its groups.
    const half = groups[0]!.position!;
    const rest = (await groupsFrom(feed, half)).flatMap(({ rows }) => rows.flatMap((of) => of.keys));
    expect(rest).toHaveLength(15_000);
    const end = positionAfter(groups, start);
    await feed.confirm(end);
    await expect(groupsFrom(feed, half)).rejects.toMatchObject({ code: 'changes_lost' });
    expect(await keysFrom(feed, end)).toEqual([[], expect.anything()]);
  });

  it('names a row once in a group, however often it has changed', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    for (const note of ['a', 'b', 'c']) await run(`UPDATE orders SET note = '${note}'`);
    expect((await groupsFrom(feed, start)).flatMap(({ rows }) => rows.flatMap(({ keys }) => keys))).toEqual([['1']]);
  });

  it('repeats what was not confirmed, and does not mind being told of a position again or of an older one', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    const [, first] = await keysFrom(feed, start);
    await run('INSERT INTO orders VALUES (2, NULL)');
    expect((await keysFrom(feed, start))[0]).toEqual(['orders:1', 'orders:2']);
    const [keys, second] = await keysFrom(feed, first);
    expect(keys).toEqual(['orders:2']);
    for (const position of [second, second, first]) await feed.confirm(position);
    expect((await keysFrom(feed, second))[0]).toEqual([]);
    expect(await feed.state(second)).toMatchObject({ problem: null });
  });

  it('may have changes from the commit on until it was read to its end', async () => {
    const { feed, run, connect } = await orders();
    const start = await feed.begin();
    expect(await feed.mayHaveChanges(start)).toBe(false);
    const writer = await connect();
    onTestFinished(() => writer.end());
    await writer.run('BEGIN');
    await writer.run('INSERT INTO orders VALUES (1, NULL)');
    await writer.run('COMMIT');
    expect(await feed.mayHaveChanges(start)).toBe(true);
    const [, first] = await turnOf(feed, start);
    expect(await feed.mayHaveChanges(first)).toBe(false);
    await run('DELETE FROM orders');
    expect(await feed.mayHaveChanges(first)).toBe(true);
  });

  it('counts the changes that nobody has read, and no further than needed to say that they are many', async () => {
    const { feed, run, connect } = await orders();
    const start = await feed.begin();
    expect(await feed.countUnread(start)).toBe(0);
    await run(`INSERT INTO orders VALUES (1, 'a'), (2, 'b')`);
    await run('DELETE FROM orders WHERE id = 2');
    expect(await feed.countUnread(start)).toBe(3);
    const writer = await connect();
    onTestFinished(() => writer.end());
    await writer.run('BEGIN');
    await writer.run('INSERT INTO orders VALUES (3, NULL)');
    expect(await feed.countUnread(start)).toBe(3);
    await writer.run('COMMIT');
    const [, first] = await keysFrom(feed, start);
    expect(await feed.countUnread(first)).toBe(0);
    expect(await feed.countUnread(start)).toBe(4);
    await feed.confirm(first);
    await run(`INSERT INTO orders SELECT i + 10, NULL FROM ${dialect.numbers(COUNT_BOUND + 500)}`);
    expect(await feed.countUnread(first)).toBe(COUNT_BOUND);
  });

  it('may have changes if it was removed, which a reading notices', async () => {
    const { feed, runAll } = await orders();
    const start = await feed.begin();
    await runAll((await feed.removal()).statements);
    expect(await feed.mayHaveChanges(start)).toBe(true);
  });

  it('notices that somebody else has read and confirmed more', async () => {
    const { feed, run, source } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    await run('INSERT INTO orders VALUES (2, NULL)');
    await turnOf(source.changes(CHANGES), start);
    const lost = { code: 'changes_lost', message: expect.stringContaining('somebody else reads it') as string };
    await expect(groupsFrom(feed, start)).rejects.toMatchObject(lost);
    expect((await feed.state(start)).problem).toContain('somebody else reads it');
  });

  it('notices that it was removed, and installed anew', async () => {
    const { feed, run, runAll, planned } = await orders();
    const start = await feed.begin();
    await runAll((await feed.removal()).statements);
    const lost = { code: 'changes_lost', message: expect.stringContaining('there is no change table') as string };
    await expect(groupsFrom(feed, start)).rejects.toMatchObject(lost);
    await expect(feed.confirm(start)).rejects.toMatchObject(lost);
    await expect(feed.begin()).rejects.toMatchObject(lost);
    expect(await feed.state()).toMatchObject({ position: null, tables: [] });

    await run('INSERT INTO orders VALUES (1, NULL)');
    await runAll((await feed.installation(await planned({ orders: ['id'] }))).statements);
    const another = { code: 'changes_lost', message: expect.stringContaining('another one than before') as string };
    await expect(groupsFrom(feed, start)).rejects.toMatchObject(another);
    await expect(feed.confirm(start)).rejects.toMatchObject(another);
    const anew = await feed.begin();
    await run('DELETE FROM orders');
    expect((await turnOf(feed, anew))[0]).toEqual(['orders:1']);
  });

  it('notices that only the change table was dropped, and made anew', async () => {
    const { feed, run, runAll, planned } = await orders();
    const start = await feed.begin();
    await run(`DROP TABLE ${changes}`);
    await runAll((await feed.installation(await planned({ orders: ['id'] }))).statements);
    await expect(groupsFrom(feed, start)).rejects.toMatchObject({ code: 'changes_lost' });
    const anew = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    expect((await turnOf(feed, anew))[0]).toEqual(['orders:1']);
  });

  it('tells a table whose triggers were dropped and made again from one whose triggers have stayed', async () => {
    const { feed, run, runAll, planned } = await createChangeTable(
      dialect,
      `${ORDERS}; CREATE TABLE others (id integer NOT NULL PRIMARY KEY); CREATE TABLE added (id integer NOT NULL PRIMARY KEY)`,
      { orders: ['id'], others: ['id'] },
    );
    const sinceOf = async (name: string) => (await feed.state()).tables.find((table) => table.name === name)?.since;
    const before = { orders: await sinceOf('orders'), others: await sinceOf('others') };
    expect(before.orders).toEqual(expect.any(String));
    const all = await planned({ orders: ['id'], others: ['id'], added: ['id'] });
    await runAll((await feed.installation(all)).statements);
    expect({ orders: await sinceOf('orders'), others: await sinceOf('others') }).toEqual(before);

    const removal = (await feed.removal()).statements.map(({ sql }) => sql);
    const ofOrders = /DROP (TRIGGER|FUNCTION) .*_([0-9a-f]{8})/;
    const mark = tableMark(all[0]!.table);
    await run(removal.find((sql) => ofOrders.exec(sql)?.[2] === mark)!);
    expect(await sinceOf('orders')).toBeUndefined();
    await runAll((await feed.installation(all)).statements);
    expect(await sinceOf('orders')).toEqual(expect.any(String));
    expect(await sinceOf('orders')).not.toBe(before.orders);
    expect(await sinceOf('others')).toBe(before.others);
  });

  it('notices an older copy of its database that has grown beyond what was read', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    await run('INSERT INTO orders VALUES (2, NULL)');
    const [, read] = await keysFrom(feed, start);
    const position = { ...read, confirmed: await feed.confirm(read) };
    expect(position.confirmed).toEqual(expect.any(String));
    expect((await feed.state(position)).problem).toBeNull();
    // Nothing is left to be deleted: what was kept before is still there.
    expect(await feed.confirm(read)).toBe(position.confirmed);

    await run(SET_BACK[listed.name]);
    await run('INSERT INTO orders VALUES (3, NULL)');
    const lost = { code: 'changes_lost', message: expect.stringContaining('gone back to an earlier state') as string };
    await expect(groupsFrom(feed, position)).rejects.toMatchObject(lost);
    expect((await feed.state(position)).problem).toContain('gone back to an earlier state');
    const anew = await feed.begin();
    await run('INSERT INTO orders VALUES (4, NULL)');
    expect((await keysFrom(feed, anew))[0]).toContain('orders:4');
  });

  it('goes on from where it was read if only the confirmation is older, as after a crash between the two', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    await run('INSERT INTO orders VALUES (2, NULL)');
    const [, first] = await keysFrom(feed, start);
    const confirmed = await feed.confirm(first);
    await run('INSERT INTO orders VALUES (3, NULL)');
    const [, second] = await keysFrom(feed, { ...first, confirmed });
    await feed.confirm(second);
    await run('INSERT INTO orders VALUES (4, NULL)');
    // The confirmation of `second` has reached the source, and not the ledger.
    expect((await keysFrom(feed, { ...second, confirmed }))[0]).toEqual(['orders:4']);
    const unconfirmed = await feed.begin();
    await run('INSERT INTO orders VALUES (5, NULL)');
    expect((await keysFrom(feed, { ...unconfirmed, confirmed: null }))[0]).toContain('orders:5');
  });

  it('installs what is missing, nothing that is there, and leaves nothing when it is removed', async () => {
    const { feed, runAll, planned, run } = await orders();
    await run('CREATE TABLE others (id integer NOT NULL PRIMARY KEY)');
    const one = await planned({ orders: ['id'] });
    const both = await planned({ orders: ['id'], others: ['id'] });
    expect(await feed.installation(one)).toMatchObject({ statements: [], missingTables: [] });
    const added = await feed.installation(both);
    expect(added.missingTables).toEqual([both[1]]);
    await runAll(added.statements);
    expect(await feed.installation(both)).toMatchObject({ statements: [], missingTables: [], findings: [] });

    const start = await feed.begin();
    await run('INSERT INTO others VALUES (5)');
    expect((await turnOf(feed, start))[0]).toEqual(['others:5']);
    await runAll((await feed.removal()).statements);
    await run('INSERT INTO others VALUES (6)');
    expect((await feed.removal()).statements).toEqual([]);
  });

  it('leaves triggers of others with similar names alone', async () => {
    const { feed, run, runAll, source } = await orders();
    await run('CREATE TABLE audit (id integer NOT NULL PRIMARY KEY)');
    for (const sql of OTHER_TRIGGER[listed.name](`${CHANGES.table}_audited_d`)) await run(sql);
    await runAll((await feed.removal()).statements);
    await run('INSERT INTO orders VALUES (1, NULL)');
    await run('DELETE FROM orders');
    expect(await readAll(source, plan('audit', ['id']), 10)).toEqual(['1']);
  });

  it('is nothing that init drafts a mapping of, unless it is asked to', async () => {
    const { source, run } = await orders();
    await run('CREATE TABLE order_state (id integer NOT NULL PRIMARY KEY, origin varchar(40))');
    const all = await source.tables();
    const names = (tables: readonly { name: string }[]) => tables.map(({ name }) => name).toSorted();
    expect(names(chosenTables(all, undefined))).toEqual(['order_state', 'orders']);
    const named = all.filter(({ name }) => name === CHANGES.table);
    expect(named).toHaveLength(dialect.speaks === 'postgres' ? 0 : 1);
    for (const { table } of named) expect(names(chosenTables(all, [table]))).toEqual([CHANGES.table]);
  });

  it('gives each statement a line that says what it is for', async () => {
    const { feed, planned, runAll } = await orders();
    const { statements } = await feed.removal();
    await runAll(statements);
    const installation = await feed.installation(await planned({ orders: ['id'] }));
    expect(installation.findings).toMatchObject([{ kind: 'cost', blocks: false }]);
    for (const { sql, why } of [...statements, ...installation.statements]) {
      expect(sql).not.toBe('');
      expect(why).toMatch(/^[a-z][^\n]+$/);
    }
  });

  it('says which part is not as it would be installed, with the SQL that corrects it', async () => {
    const { feed, planned, run } = await createChangeTable(
      dialect,
      'CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, no integer NOT NULL UNIQUE)',
      { orders: ['id'] },
    );
    const other = await planned({ orders: ['no'] });
    const differing = async () => (await feed.installation(other)).findings.filter(({ blocks }) => blocks);
    expect((await differing()).map(({ kind }) => kind)).toContain('part-differs');
    for (const { fix } of await differing()) await run(fix!);
    // A trigger that had to be dropped is to be installed again.
    for (const { sql } of (await feed.installation(other)).statements) await run(sql);
    expect(await differing()).toEqual([]);
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, 100)');
    expect((await turnOf(feed, start))[0]).toEqual(['orders:100']);
  });

  it('refuses a table that is not there', async () => {
    const { feed } = await orders();
    const missing = { table: { schema: null, name: 'nowhere' }, key: ['id'] };
    expect((await feed.installation([missing])).findings).toMatchObject([{ kind: 'table-missing', blocks: true }]);
  });

  it('skips rows of a table that is gone', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    await run('DROP TABLE orders');
    expect((await turnOf(feed, start))[0]).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const { feed } = await orders();
    const reason = new Error('enough');
    await expect(groupsFrom(feed, await feed.begin(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
