/** An SQLite file, opened read-only. The driver is synchronous: a long query blocks its thread. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import knexLibrary from 'knex';
import type SqliteDatabase from 'better-sqlite3';
import type { Database, Statement } from 'better-sqlite3';
import { PartnerSyncError } from '../../domain/errors.js';
import type { SourceRow } from '../../domain/source/source.js';
import { sqliteFileOf } from '../../domain/source/source-address.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { decodeText } from '../decode-text.js';
import type { Binding, PageOptions, Query, RawPage, Session } from '../dialect.js';
import { loadDriver } from '../load-driver.js';
import { connectionsInUse, discardConnection, SILENT, withConnection } from '../knex-pool.js';
import { affinityOf, typeOfDeclared } from './types.js';
import { milliseconds } from '../../domain/timeouts.js';

/** Connections that are opened for a statement at most, where the file seems to be another one each time, as on some shares. */
const ATTEMPTS = 5;

type Value = string | number | bigint | Buffer | null;

/** Throws `config_invalid` for an address that cannot be used, `driver_missing` if the driver is not installed or not built. */
export const openSqliteSession = (config: SourceConfig): Session => openSession(config, true);

/** The same for an administrator, whose statements may write. */
export const openWritingSqliteSession = (config: SourceConfig): Session => openSession(config, false);

function openSession(config: SourceConfig, readonly: boolean): Session {
  const Driver = builtDriver();
  const filename = resolve(fileOf(config.connection));
  /** The file that each connection reads. */
  const opened = new WeakMap<Database, string>();
  let named = '';
  const knex = knexLibrary({
    client: 'better-sqlite3',
    log: SILENT,
    // Called before each connection is opened.
    connection() {
      named = identityOf(filename);
      return { filename, options: { readonly } };
    },
    useNullAsDefault: true,
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(db: Database, done: (error: unknown, db: Database) => void) {
        db.pragma(`busy_timeout = ${config.statementTimeout * 1000}`);
        // If another file got the name meanwhile, it is not known which one this is.
        if (named === identityOf(filename)) opened.set(db, named);
        done(null, db);
      },
    },
    acquireConnectionTimeout: milliseconds('sourcePool'),
  });
  return {
    async run({ sql, bindings }, { budget = Infinity, lookUp }: PageOptions = {}) {
      for (let attempt = 1; ; attempt++) {
        const page = await withConnection(knex, (db: Database) => {
          // Through a connection, a file is read on that was moved away, or replaced by another one.
          if (opened.get(db) !== identityOf(filename) && attempt < ATTEMPTS) {
            discardConnection(db);
            return null;
          }
          // In a transaction, so that a second read of the same rows finds them as they were.
          return db.transaction(() => (readonly ? runOn : runAny)(db, sql, bindings, budget, lookUp))();
        });
        if (page !== null) return page;
      }
    },
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfDeclared(code)]))),
    // Nothing ends a statement of SQLite; only the wait for another writer is bounded.
    write(statements) {
      const db = new Driver(filename, { fileMustExist: true, timeout: config.statementTimeout * 1000 });
      try {
        db.transaction(() => {
          for (const { sql, bindings } of statements) db.prepare(sql).run(...bindings);
        }).immediate();
      } finally {
        db.close();
      }
      return Promise.resolve();
    },
    connections: () => connectionsInUse(knex),
    close: () => knex.destroy(),
  };
}

/** Which file has this name now. Throws `config_invalid` if none has. */
function identityOf(filename: string): string {
  try {
    const { dev, ino } = statSync(filename, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    const message = `source: no such file, or none that this account can see: ${filename}`;
    throw new PartnerSyncError('config_invalid', message, {}, { cause: error });
  }
}

/** An installation without install scripts leaves the driver's native part unbuilt. */
function builtDriver(): typeof SqliteDatabase {
  const Driver = loadDriver<typeof SqliteDatabase>('better-sqlite3');
  try {
    new Driver(':memory:').close();
    return Driver;
  } catch (error) {
    throw new PartnerSyncError(
      'driver_missing',
      'the driver of SQLite is not built; in a clone run: npm run build:sqlite; in a project of yours: npm rebuild better-sqlite3',
      {},
      { cause: error },
    );
  }
}

function fileOf(address: string): string {
  const file = sqliteFileOf(address);
  if (file === undefined)
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source must be a file such as sqlite:path/to/shop.db',
    );
  return file;
}

/** Runs a statement that may be one that returns no rows. */
function runAny(db: Database, sql: string, bindings: readonly Binding[], budget: number): RawPage {
  const statement = db.prepare(sql);
  if (statement.reader) return runOn(db, sql, bindings, budget);
  statement.run(...bindings);
  return { rows: [], fields: [] };
}

function runOn(
  db: Database,
  sql: string,
  bindings: readonly Binding[],
  budget: number,
  lookUp?: PageOptions['lookUp'],
): RawPage {
  const statement = db.prepare(sql).raw(true).safeIntegers(true);
  const values: Value[][] = [];
  let left = budget;
  let doubtful = false;
  for (const row of statement.iterate(...bindings) as Iterable<Value[]>) {
    for (const value of row) if (typeof value === 'string' || value instanceof Buffer) left -= value.length;
    // The driver replaces invalid UTF-8 by U+FFFD, which a text may also contain.
    if (row.some((value) => typeof value === 'string' && value.includes('\uFFFD'))) doubtful = true;
    values.push(row);
    if (left < 0) break;
  }
  // Only after the statement ran does it know of a table that was altered.
  const fields = statement.columns().map(({ name, type }) => ({ name, code: (type ?? '').toUpperCase() }));
  const isText = fields.map(({ code }) => affinityOf(code) === 'text');
  const rows = values.map((row) => row.map((value, i) => textOf(value, isText[i]!)));
  const page: RawPage = {
    rows: doubtful ? withExactText(db, statement, bindings, rows) : rows,
    fields,
    // The row that exceeded the budget is complete and kept.
    cut: left < 0,
  };
  const asked = lookUp?.(page) ?? null;
  return { ...page, notFound: asked !== null && !isFound(db, asked.query, values[asked.index]!) };
}

/** Whether a query finds the row with just these values: one with other values may have the same texts. */
function isFound(db: Database, { sql, bindings }: Query, row: readonly Value[]): boolean {
  const found = db.prepare(sql).raw(true).safeIntegers(true);
  for (const other of found.iterate(...bindings) as Iterable<Value[]>)
    if (row.every((value, i) => isSame(value, other[i]!))) return true;
  return false;
}

/** The same number may be read as a whole one by one query of a view, and as a fraction by another. */
function isSame(one: Value, other: Value): boolean {
  const comparable = (value: Value): Value => (typeof value === 'bigint' ? Number(value) : value);
  return isDeepStrictEqual(comparable(one), comparable(other));
}

function textOf(value: Value, isText: boolean): string | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Buffer) return isText ? decodeText(value) : `\\x${value.toString('hex')}`;
  return String(value);
}

/** Reads texts again as bytes, since the first read may have hidden invalid UTF-8. Both are in one transaction. */
function withExactText(
  db: Database,
  statement: Statement,
  bindings: readonly Binding[],
  rows: SourceRow[],
): SourceRow[] {
  const names = statement.columns().map((_, i) => `c${i}`);
  const list = names.map((name) => `CASE WHEN typeof(${name}) = 'text' THEN CAST(${name} AS BLOB) END`).join(', ');
  const again = db
    .prepare(`WITH page(${names.join(', ')}) AS MATERIALIZED (${statement.source}) SELECT ${list} FROM page`)
    .raw(true);
  const bytes = again.all(...bindings) as (Buffer | null)[][];
  return rows.map((row, r) =>
    row.map((value, i) => (value?.includes('\uFFFD') && bytes[r]?.[i] != null ? decodeText(bytes[r][i]) : value)),
  );
}
