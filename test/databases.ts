/** Databases for tests, each with a unique name, empty or copied from a template that the test run creates once. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../src/sandbox/migrations.js';
import { migrateLedger, openLedgerDatabase } from '../src/ledger/database/connection.js';
import { oncePerRun } from './once-per-run.js';

export interface Database {
  readonly url: string;
  query<R extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>;
  /** The same with all that the driver answers, such as the number of rows. */
  ask(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** A connection of its own, for transactions that stay open. */
  connect(): Promise<pg.Client>;
  drop(): Promise<void>;
}

/** What a template holds: a name that is unique in the run, and what fills its database. */
export interface Template {
  readonly name: string;
  readonly fill: (database: Database) => Promise<void>;
}

/** The tables of the ledger and of the sandbox, both empty. */
export const STATE: Template = {
  name: 'state',
  async fill({ url }) {
    const state = openLedgerDatabase(url);
    try {
      await migrateLedger(state);
    } finally {
      await state.destroy();
    }
    await migrate(url);
  },
};

/** A new database on the tests' server, or on another (its superuser's URL). */
export const createDatabase = (server = inject('postgresUrl')): Promise<Database> => create(server);

/** A new database on the tests' server that holds what `template` does; its name begins with `label`. */
export async function copyDatabase({ name, fill }: Template, label = 't'): Promise<Database> {
  const server = inject('postgresUrl');
  const template = await oncePerRun(`template-${name}`, async () => {
    const database = await create(server);
    await fill(database);
    await database.close();
    return database.name;
  });
  return create(server, { template, label });
}

interface OwnDatabase extends Database {
  readonly name: string;
  /** Ends our connections: a template must have none. */
  close(): Promise<void>;
}

async function create(server: string, { template = 'template1', label = 't' } = {}): Promise<OwnDatabase> {
  const name = `${label.toLowerCase().replaceAll(/\W/g, '_').slice(0, 40)}_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const admin = pool(server);
  const { rows } = await admin.query<{ server_version_num: string }>('show server_version_num');
  const version = Number(rows[0]!.server_version_num);
  // Copying files is quicker than logging their pages, which is the default since PostgreSQL 15.
  await admin.query(`create database ${name} template ${template} ${version >= 150_000 ? 'strategy file_copy' : ''}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const client = pool(url.href);
  return {
    name,
    url: url.href,
    query: async <R extends pg.QueryResultRow>(sql: string, values?: unknown[]) =>
      (await client.query<R>(sql, values)).rows,
    ask: (sql, values) => client.query(sql, values),
    async connect() {
      const own = new pg.Client({ connectionString: url.href });
      await own.connect();
      return own;
    },
    async close() {
      await Promise.all([client.end(), admin.end()]);
    },
    async drop() {
      await client.end();
      // PostgreSQL 12 has no WITH (FORCE).
      await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      await admin.query(`drop database if exists ${name} ${version >= 130_000 ? 'with (force)' : ''}`);
      await admin.end();
    },
  };
}

/** One connection, made anew when a test has stopped its server. */
function pool(url: string): pg.Pool {
  const one = new pg.Pool({ connectionString: url, max: 1 });
  one.on('error', () => undefined);
  return one;
}
