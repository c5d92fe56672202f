/** One database of each kind, with the few things in which the shared tests must differ. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import driver from 'mysql2/promise';
import pg from 'pg';
import type { SourceDialect } from '../../src/domain/source/source-address.js';
import { createDatabase } from '../pipeline/shop.js';
import { isHere } from '../here.js';
import type { LaunchedServer } from './launched-server.js';
import { startMariaDb } from './mariadb-server.js';
import { startMysql } from './mysql-server.js';

/** A connection that writes: the partner's application. */
export interface Writer {
  run(sql: string): Promise<void>;
  end(): Promise<void>;
}

export interface TestDatabase {
  readonly url: string;
  run(sql: string): Promise<void>;
  /** A connection of its own, for transactions that stay open. */
  connect(): Promise<Writer>;
  /** Ends the sessions that run a statement with `text` in it; true when there was one. */
  kill(text: string): Promise<boolean>;
  drop(): Promise<void>;
}

/** What databases differ in is declared by name in the shared tests, whose types demand an entry for each. */
export type TestDialectName = 'PostgreSQL' | 'MariaDB' | 'MySQL' | 'SQLite';
/** Those that are servers: what tests of sessions and of accounts need. */
export type TestServerName = Exclude<TestDialectName, 'SQLite'>;

export interface TestDialect {
  readonly name: TestDialectName;
  /** The dialect of a source that reads it. */
  readonly speaks: SourceDialect;
  readonly create: () => Promise<TestDatabase>;
  readonly quote: (name: string) => string;
  /** A table of the numbers 1 to `count`, named `n(i)`, for FROM. */
  readonly numbers: (count: number) => string;
  /** A type that holds a point in time, and one without a zone; the column's default is the database's clock. */
  readonly instant: string;
  readonly local: string;
  readonly now: string;
  /** A statement takes so long for each row. */
  readonly slow: (seconds: number) => string;
  readonly text: (sql: string) => string;
}

/** Of the dialects, or of what holds one, those whose database can be had here. */
export const here = <T extends TestDialect | { readonly dialect: TestDialect }>(all: readonly T[]): T[] =>
  all.filter((one) => {
    const { name } = 'dialect' in one ? one.dialect : one;
    return isHere(name);
  });

/** PostgreSQL on a server of the test's own, which `server` gives, or on the one that all tests share. */
export const postgresOn = (server?: () => string): TestDialect => ({
  name: 'PostgreSQL',
  speaks: 'postgres',
  async create() {
    const database = await createDatabase(server?.());
    return {
      url: database.url,
      run: async (sql) => void (await database.query(sql)),
      async connect() {
        const client = await database.connect();
        return { run: async (sql) => void (await client.query(sql)), end: () => client.end() };
      },
      kill: async (text) =>
        (
          await database.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND position($1 IN query) > 0 AND pid <> pg_backend_pid() AND state = 'active'`,
            [text],
          )
        ).length > 0,
      drop: () => database.drop(),
    };
  },
  quote: pg.escapeIdentifier,
  numbers: (count) => `generate_series(1, ${count}) n(i)`,
  instant: 'timestamptz',
  local: 'timestamp',
  now: 'now()',
  slow: (seconds) => `pg_sleep(${seconds})::text`,
  text: (sql) => `${sql}::text`,
});

export const postgres = postgresOn();

function numbersByRecursion(count: number): string {
  return `(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${count}) SELECT i FROM r) n`;
}

/** What MariaDB and MySQL have in common. */
const onServer = (start: () => Promise<LaunchedServer>): Omit<TestDialect, 'name' | 'numbers'> => ({
  speaks: 'mysql',
  async create() {
    const server = await start();
    const name = `t_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const open = async (database: string): Promise<driver.Connection> =>
      driver.createConnection({
        uri: server.url(database).replace('mariadb:', 'mysql:'),
        charset: 'utf8mb4',
        multipleStatements: true,
      });
    const admin = await open('mysql');
    await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    await admin.query(`USE ${name}`);
    return {
      url: server.url(name),
      run: async (sql) => void (await admin.query(sql)),
      async connect() {
        const connection = await open(name);
        return { run: async (sql) => void (await connection.query(sql)), end: () => connection.end() };
      },
      async kill(text) {
        const [rows] = await admin.query<driver.RowDataPacket[]>(
          'SELECT id AS id FROM information_schema.processlist WHERE LOCATE(?, info) > 0 AND id <> CONNECTION_ID()',
          [text],
        );
        for (const { id } of rows as { id: number }[]) await admin.query(`KILL CONNECTION ${id}`);
        return rows.length > 0;
      },
      async drop() {
        await admin.end();
        await server.stop();
      },
    };
  },
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  instant: 'timestamp(6) NOT NULL',
  local: 'datetime(6)',
  now: 'now(6)',
  slow: (seconds) => `CONCAT('x', SLEEP(${seconds}))`,
  text: (sql) => `CAST(${sql} AS CHAR)`,
});

export const mariadb: TestDialect = {
  name: 'MariaDB',
  ...onServer(startMariaDb),
  numbers: (count) => `(SELECT seq AS i FROM seq_1_to_${count}) n`,
};

export const mysql: TestDialect = { name: 'MySQL', ...onServer(startMysql), numbers: numbersByRecursion };

export const sqlite: TestDialect = {
  name: 'SQLite',
  speaks: 'sqlite',
  create() {
    const folder = mkdtempSync(join(tmpdir(), 'partner-sync-sqlite-'));
    const file = join(folder, 'shop.db');
    const open = (): Writer & { db: BetterSqlite.Database } => {
      const db = new BetterSqlite(file);
      return { db, run: (sql) => Promise.resolve(void db.exec(sql)), end: () => Promise.resolve(void db.close()) };
    };
    const writer = open();
    return Promise.resolve({
      url: `sqlite:${file}`,
      run: (sql) => writer.run(sql),
      connect: () => Promise.resolve(open()),
      kill: () => Promise.resolve(false),
      drop: async () => {
        await writer.end();
        rmSync(folder, { recursive: true, force: true });
      },
    });
  },
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  numbers: numbersByRecursion,
  instant: 'timestamp',
  local: 'timestamp',
  now: `strftime('%Y-%m-%d %H:%M:%f', 'now')`,
  slow: () => 'NULL',
  text: (sql) => `CAST(${sql} AS TEXT)`,
};

/** For each dialect of a source, the databases that stand for it in the shared tests, or why there is none. */
const STANDS_FOR: Readonly<Record<SourceDialect, readonly TestDialect[] | { readonly untested: string }>> = {
  postgres: [postgres],
  mysql: [mariadb, mysql],
  sqlite: [sqlite],
  mssql: { untested: 'no server can be installed for the tests; the README says so' },
};

/** The databases that the shared tests run on. */
export const TEST_DIALECTS: readonly TestDialect[] = Object.values(STANDS_FOR).flatMap((entry) =>
  'untested' in entry ? [] : entry,
);
