/** What is special about change tables of MariaDB and MySQL: rights, foreign keys, missing numbers and other servers that write. */
import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isHere } from '../here.js';
import { openMysqlAdministrator } from '../../src/source/mysql/administrator.js';
import { openSource } from '../../src/source/open-source.js';
import { countWithoutGap, parsePlace, placeText } from '../../src/source/mysql/change-table/row-gaps.js';
import { CHANGES, keysFrom, turnOf } from './change-table-database.js';
import type { LaunchedServer } from './launched-server.js';
import { startMariaDb } from './mariadb-server.js';
import { startMysql } from './mysql-server.js';
import { plan, readAll } from './reading.js';
import { groupsFrom } from './slot-server.js';

const SERVERS = [
  { name: 'MariaDB', start: startMariaDb },
  { name: 'MySQL', start: startMysql },
];

describe.each(SERVERS.filter(({ name }) => isHere(name)))('a change table of $name', ({ start }) => {
  let server: LaunchedServer;
  let admin: mysql.Connection;
  beforeAll(async () => {
    server = await start();
    admin = await connect('mysql');
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });
  const connect = (database: string): Promise<mysql.Connection> =>
    mysql.createConnection({ uri: server.url(database).replace('mariadb:', 'mysql:'), multipleStatements: true });

  let count = 0;
  /** A database with a change table, and an account that may only read its tables. */
  async function shop(sql: string, tables: readonly (readonly [string, ...string[]])[]) {
    const name = `shop_${++count}`;
    await admin.query(`CREATE DATABASE ${name}; CREATE USER ${name} IDENTIFIED BY 'r'`);
    const writer = await connect(name);
    await writer.query(sql);
    for (const [table] of tables) await admin.query(`GRANT SELECT ON ${name}.${table} TO ${name}`);
    const url = Object.assign(new URL(server.url(name)), { username: name, password: 'r' }).href;
    const source = openSource({ connection: url, poolMax: 2, statementTimeout: 1 });
    onTestFinished(async () => {
      await source.close();
      await writer.end();
    });
    const planned = tables.map(([table, ...key]) => ({ table: { schema: name, name: table }, key }));
    const feed = source.changes(CHANGES);
    const install = async (): Promise<void> => {
      for (const statement of (await feed.installation(planned)).statements) await writer.query(statement.sql);
    };
    return { name, writer, source, feed, planned, install };
  }
  const orders = () => shop('CREATE TABLE orders (id int PRIMARY KEY, note varchar(20))', [['orders', 'id']]);

  it('is read, and pruned, by an account that has no other rights', async () => {
    const { name, writer, feed, planned, install } = await orders();
    expect((await feed.state()).problem).toContain('no change table');
    await install();
    expect(await feed.installation(planned)).toMatchObject({ statements: [], findings: [], missingTables: [] });
    const start = await feed.begin();
    await writer.query('INSERT INTO orders VALUES (1, NULL), (2, NULL)');
    const [keys, position] = await turnOf(feed, start);
    expect(keys).toEqual(['orders:1', 'orders:2']);
    const [left] = await writer.query(`SELECT * FROM ${CHANGES.table}`);
    expect(left).toHaveLength(1);

    await admin.query(`REVOKE DELETE ON ${name}.${CHANGES.table} FROM ${name}`);
    await writer.query('INSERT INTO orders VALUES (3, NULL)');
    const [more, after] = await turnOf(feed, position);
    expect(more).toEqual(['orders:3']);
    const [finding] = (await feed.installation(planned)).findings;
    expect(finding).toMatchObject({ kind: 'not-pruned', blocks: false });
    await writer.query(finding!.fix!);
    expect((await feed.installation(planned)).findings).toEqual([]);
    await feed.confirm(after);
    expect((await turnOf(feed, after))[0]).toEqual([]);
  });

  it('is installed and removed by an account with the rights that docs/changes.md names, and no others', async () => {
    const { name, writer, feed, planned } = await orders();
    const rights = /^GRANT (CREATE, DROP, .*) ON shop\.\* TO/m.exec(
      readFileSync(new URL('../../docs/changes.md', import.meta.url), 'utf8'),
    )![1]!;
    await admin.query(`CREATE USER installer_${name} IDENTIFIED BY 'i'`);
    await admin.query(`GRANT ${rights} ON ${name}.* TO installer_${name} WITH GRANT OPTION`);
    const connection = Object.assign(new URL(server.url(name)), { username: `installer_${name}`, password: 'i' }).href;
    const installer = openMysqlAdministrator({ connection, poolMax: 1, statementTimeout: 10 });
    onTestFinished(() => installer.close());
    const install = async (): Promise<void> => {
      const { database, statements } = await feed.installation(planned);
      await installer.assertDatabase(database);
      for (const statement of statements) await installer.run(statement);
    };
    await admin.query('SET GLOBAL log_bin_trust_function_creators = OFF');
    const [[log]] = await admin.query<mysql.RowDataPacket[]>('SELECT @@log_bin AS isOn');
    if (log!['isOn'] === 1) {
      await expect(install()).rejects.toMatchObject({
        details: { databaseCode: expect.stringContaining('1419') as string },
      });
      await admin.query('SET GLOBAL log_bin_trust_function_creators = ON');
    }
    await install();
    expect(await feed.installation(planned)).toMatchObject({ statements: [], findings: [], missingTables: [] });

    const start = await feed.begin();
    await writer.query('INSERT INTO orders VALUES (1, NULL)');
    expect((await turnOf(feed, start))[0]).toEqual(['orders:1']);
    const { statements } = await feed.removal();
    for (const statement of statements) await installer.run(statement);
    expect((await feed.removal()).statements).toEqual([]);
    await writer.query('DELETE FROM orders');
  });

  it.each(['ANSI,TRADITIONAL', 'NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES', ''])(
    'is installed, read and pruned if the SQL mode of the server is "%s"',
    async (mode) => {
      const [[before]] = await admin.query<mysql.RowDataPacket[]>('SELECT @@global.sql_mode AS mode');
      await admin.query('SET GLOBAL sql_mode = ?', [mode]);
      onTestFinished(async () => void (await admin.query('SET GLOBAL sql_mode = ?', [before!['mode']])));
      const { writer, feed, planned, install } = await shop(
        'CREATE TABLE orders (code char(20) PRIMARY KEY, note varchar(20))',
        [['orders', 'code']],
      );
      await install();
      expect(await feed.installation(planned)).toMatchObject({ statements: [], findings: [], missingTables: [] });
      const start = await feed.begin();
      await writer.query(`INSERT INTO orders VALUES ('it''s', NULL), (X'5C', NULL), (X'22', NULL)`);
      const [keys, position] = await turnOf(feed, start);
      expect(keys).toEqual(['orders:"', 'orders:\\', `orders:it's`]);
      expect((await turnOf(feed, position))[0]).toEqual([]);
    },
  );

  it('sees with the rights of whoever has installed it that a trigger is gone', async () => {
    const { writer, feed, planned, install } = await orders();
    await install();
    expect((await feed.state()).tables).toMatchObject([planned[0]!.table]);
    const { statements } = await feed.removal();
    await writer.query(statements[0]!.sql);
    expect((await feed.state()).tables).toEqual([]);
    expect((await feed.installation(planned)).statements).toMatchObject([
      { sql: expect.stringContaining('CREATE TRIGGER') as string },
    ]);
  });

  it('without PROCESS passes by no open transaction, however old the look at the missing row is', async () => {
    const { name, writer, feed, install } = await orders();
    await install();
    const start = await feed.begin();
    const open = await connect(name);
    onTestFinished(() => open.end());
    await open.query('BEGIN; INSERT INTO orders VALUES (1, NULL)');
    await writer.query('INSERT INTO orders VALUES (2, NULL)');
    const [none, position] = await turnOf(feed, start);
    expect(none).toEqual([]);
    expect(position.at).toMatch(/^0\/2\/2/);
    const old = { ...position, at: '0/2/2001-01-01 00:00:00.000000' };
    expect((await turnOf(feed, old))[0]).toEqual([]);
    await open.query('ROLLBACK');
    expect((await keysFrom(feed, position))[0]).toEqual([]);
    expect((await keysFrom(feed, old))[0]).toEqual(['orders:2']);
  });

  it('says which tables are changed by foreign keys, which fires no trigger', async () => {
    const { feed, planned, install } = await shop(
      `CREATE TABLE orders (id int PRIMARY KEY);
       CREATE TABLE parts (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
       CREATE TABLE notes (id int PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES orders (id))`,
      [
        ['orders', 'id'],
        ['parts', 'id'],
        ['notes', 'id'],
      ],
    );
    await install();
    expect((await feed.installation(planned)).findings).toMatchObject([
      { kind: 'not-recorded', blocks: false, table: { name: 'parts' } },
    ]);
  });

  it('notices that somebody has emptied it', async () => {
    const { writer, feed, install } = await orders();
    await install();
    const start = await feed.begin();
    await writer.query('INSERT INTO orders VALUES (1, NULL), (2, NULL)');
    const [, position] = await turnOf(feed, start);
    await writer.query(`TRUNCATE ${CHANGES.table}; INSERT INTO orders VALUES (3, NULL)`);
    const lost = { code: 'changes_lost', message: expect.stringContaining('was emptied') as string };
    await expect(groupsFrom(feed, position)).rejects.toMatchObject(lost);
    await expect(feed.begin()).rejects.toMatchObject(lost);
  });

  it('refuses servers of which others take writes, too, and replicas', async () => {
    const { feed, planned, install } = await orders();
    await install();
    for (const [setting, back, kind] of [
      ['auto_increment_increment = 2', 'auto_increment_increment = 1', 'several-writers'],
      ['read_only = 1', 'read_only = 0', 'standby'],
    ] as const) {
      await admin.query(`SET GLOBAL ${setting}`);
      try {
        expect((await feed.installation(planned)).findings).toContainEqual(
          expect.objectContaining({ kind, blocks: true }),
        );
        await expect(feed.begin()).rejects.toMatchObject({ code: 'config_invalid' });
      } finally {
        await admin.query(`SET GLOBAL ${back}`);
      }
    }
  });

  it('belongs to rows that are read as they are committed, whatever autocommit and isolation the server has', async () => {
    await admin.query('SET GLOBAL autocommit = 0; SET GLOBAL TRANSACTION ISOLATION LEVEL READ UNCOMMITTED');
    onTestFinished(async () => {
      await admin.query('SET GLOBAL autocommit = 1; SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    });
    const { writer, source } = await orders();
    const read = plan('orders', ['id'], null, ['note']);
    await writer.query(`SET autocommit = 1; INSERT INTO orders VALUES (1, 'a')`);
    expect(await readAll(source, read, 5)).toEqual(['1|a']);
    await writer.query(`INSERT INTO orders VALUES (2, 'b')`);
    expect(await readAll(source, read, 5)).toEqual(['1|a', '2|b']);
    await writer.query(`BEGIN; UPDATE orders SET note = 'never'`);
    expect(await readAll(source, read, 5)).toEqual(['1|a', '2|b']);
    await writer.query('ROLLBACK');
  });

  it('refuses views, and tables of other databases', async () => {
    const { feed } = await shop('CREATE VIEW v AS SELECT 1 AS id', [['v', 'id']]);
    const { findings } = await feed.installation([
      { table: { schema: `shop_${count}`, name: 'v' }, key: ['id'] },
      { table: { schema: 'elsewhere', name: 'orders' }, key: ['id'] },
    ]);
    expect(findings.filter(({ blocks }) => blocks).map(({ kind }) => kind)).toEqual([
      'not-publishable',
      'not-publishable',
    ]);
  });
});

describe('the numbers of rows', () => {
  it.each([
    [[1n, 2n, 3n], 0n, 0n, 3],
    [[2n, 3n], 0n, 0n, 0],
    [[1n, 3n, 4n], 0n, 0n, 1],
    [[1n, 3n, 4n], 0n, 3n, 3],
    [[4n, 5n], 0n, 3n, 2],
    [[5n], 0n, 3n, 0],
    [[], 0n, 0n, 0],
  ])('%s after %s, of which up to %s none is missing any more: %s', (numbers, seq, settled, expected) => {
    expect(countWithoutGap(numbers, seq, settled)).toBe(expected);
  });

  it.each(['0', '17', '17/20/2024-05-01 12:00:00.000000'])('are kept as %s', (at) => {
    expect(placeText(parsePlace(at))).toBe(at);
  });
});
