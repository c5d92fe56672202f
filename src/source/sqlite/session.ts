/** A SQLite file, opened read-only. The driver is synchronous: a query of its own length blocks this process. */
import knexLibrary from 'knex';
import SqliteDatabase, { type Database, type Statement } from 'better-sqlite3';
import { PartnerSyncError } from '../../domain/errors.js';
import type { SourceRow } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import { decodeText } from '../decode-text.js';
import type { Binding, PageOptions, RawPage, Session } from '../dialect.js';
import { SILENT, withConnection } from '../pool.js';
import { affinityOf, typeOfDeclared } from './types.js';

type Value = string | number | bigint | Buffer | null;

export function openSqliteSession(config: SourceConfig): Session {
  assertDriverIsBuilt();
  const knex = knexLibrary({
    client: 'better-sqlite3',
    log: SILENT,
    connection: { filename: fileOf(config.connection), options: { readonly: true } },
    useNullAsDefault: true,
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(db: Database, done: (error: unknown, db: Database) => void) {
        db.pragma(`busy_timeout = ${config.statementTimeout * 1000}`);
        done(null, db);
      },
    },
    acquireConnectionTimeout: 20_000,
  });
  return {
    run: ({ sql, bindings }, { budget = Infinity }: PageOptions = {}) =>
      withConnection(knex, (db: Database) => runOn(db, sql, bindings, budget)),
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfDeclared(code)]))),
    close: () => knex.destroy(),
  };
}

/** The driver's native part is not built by an installation that did not allow it. */
function assertDriverIsBuilt(): void {
  try {
    new SqliteDatabase(':memory:').close();
  } catch (error) {
    throw new PartnerSyncError(
      'config_invalid',
      'the driver of SQLite is not built; in a clone run: npm run build:sqlite; in a project of yours: npm rebuild better-sqlite3',
      {},
      { cause: error },
    );
  }
}

/** `sqlite:shop.db`, `sqlite:./shop.db`, `sqlite:/data/shop.db` and `sqlite:///data/shop.db`. */
function fileOf(address: string): string {
  const file = address.replace(/^sqlite:(\/\/(?=\/))?/i, '');
  if (file === '' || file === ':memory:' || file.startsWith('//'))
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source must be a file such as sqlite:path/to/shop.db',
    );
  return file;
}

function runOn(db: Database, sql: string, bindings: readonly Binding[], budget: number): RawPage {
  const statement = db.prepare(sql).raw(true).safeIntegers(true);
  const values: Value[][] = [];
  let left = budget;
  let doubtful = false;
  for (const row of statement.iterate(...bindings) as Iterable<Value[]>) {
    for (const value of row) if (typeof value === 'string' || value instanceof Buffer) left -= value.length;
    // The driver puts U+FFFD for what is no UTF-8, and does not tell it from the character itself.
    if (row.some((value) => typeof value === 'string' && value.includes('\uFFFD'))) doubtful = true;
    values.push(row);
    if (left < 0) break;
  }
  // Asked for last: the statement learns of a changed table only by running.
  const fields = statement.columns().map(({ name, type }) => ({ name, code: (type ?? '').toUpperCase() }));
  const isText = fields.map(({ code }) => affinityOf(code) === 'text');
  const rows = values.map((row) => row.map((value, i) => textOf(value, isText[i]!)));
  return {
    rows: doubtful ? withExactText(db, statement, bindings, rows) : rows,
    fields,
    // The row that went over the budget is complete: nothing smaller has to be asked for.
    cut: left < 0,
  };
}

function textOf(value: Value, isText: boolean): string | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Buffer) return isText ? decodeText(value) : `\\x${value.toString('hex')}`;
  return String(value);
}

/** Reads texts again as bytes. The two readings see the same rows, as nothing else runs in between on this thread's file lock. */
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
