/** Opens the state database and brings its schema up to date. */
import knexLibrary, { type Knex } from 'knex';
import type { Client } from 'pg';
import { PartnerSyncError } from '../domain/errors.js';
import { limitAnswers } from '../postgres/answer-deadline.js';
import { inTransaction } from './transaction.js';
import * as ledger from './migrations/0001-ledger.js';
import * as openRuns from './migrations/0007-open-runs.js';
import * as spansOfBatches from './migrations/0008-spans-of-batches.js';
import * as owedChildren from './migrations/0009-owed-children.js';
import * as failures from './migrations/0010-failures.js';
import * as cheaperDeadLetters from './migrations/0012-cheaper-dead-letters.js';
import * as parents from './migrations/0002-parents.js';
import * as pushedDefinitions from './migrations/0003-pushed-definitions.js';
import * as removals from './migrations/0004-removals.js';
import * as seenColumns from './migrations/0005-seen-columns.js';
import * as keysOfLetters from './migrations/0011-keys-of-letters.js';
import * as keptRecords from './migrations/0006-kept-records.js';

export const STATE_SCHEMA = 'partner_sync';
const MIGRATIONS = [
  ...[ledger, parents, pushedDefinitions, removals, seenColumns, keptRecords, openRuns, spansOfBatches],
  owedChildren,
  failures,
  keysOfLetters,
  cheaperDeadLetters,
];
/** Any constant that no other user of the database takes: serialises migrations of workers that start together. */
const MIGRATION_LOCK = 7_160_345_201;

/** Knex prints stack traces to stdout, where they would stand in the middle of a command's result. */
const QUIET = { warn: () => undefined, error: () => undefined, deprecate: () => undefined, debug: () => undefined };

/** A pool on the state database. `url` may hold a password: it never appears in errors. */
export function openState(url: string, { poolMax = 8, readOnly = false } = {}): Knex {
  return knexLibrary({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'partner-sync',
      keepAlive: true,
      // A process that is frozen in a transaction must not block its successor for ever.
      options: `-c idle_in_transaction_session_timeout=15s -c lock_timeout=30s -c statement_timeout=60s${readOnly ? ' -c default_transaction_read_only=on' : ''}`,
    },
    searchPath: [STATE_SCHEMA],
    pool: {
      min: 0,
      max: poolMax,
      afterCreate(connection: Client, done: (error: unknown, connection: Client) => void) {
        limitAnswers(connection, 75_000);
        done(null, connection);
      },
    },
    acquireConnectionTimeout: 15_000,
    // Else an error's message would quote the values, a megabyte of them at times.
    compileSqlOnError: false,
    log: QUIET,
  });
}

/** Creates or updates the tables. Safe when many processes start at once. */
export async function migrateState(knex: Knex): Promise<void> {
  await inState(async () => {
    await knex.raw(`CREATE SCHEMA IF NOT EXISTS ${STATE_SCHEMA}`).catch((error: { code?: string }) => {
      // Two sessions that create it at the same moment: one of them sees a duplicate key, and all is well.
      if (error.code !== '23505') throw error;
    });
    await inTransaction(knex, async (trx) => {
      await trx.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
      // A process killed while migrating leaves knex's own lock row behind; ours died with its session.
      await knex.migrate.forceFreeMigrationsLock(migrationConfig);
      await knex.migrate.latest(migrationConfig);
    });
  });
}

/** Throws `state_not_ready` unless the tables are those of this version; writes nothing. */
export async function assertMigrated(knex: Knex): Promise<void> {
  const applied = await inState(async () => {
    const { rows } = await knex.raw<{ rows: { there: boolean }[] }>(
      `SELECT to_regclass('${STATE_SCHEMA}.migrations') IS NOT NULL AS there`,
    );
    return rows[0]!.there ? await knex('migrations').select<{ name: string }[]>('name') : [];
  });
  const names = new Set(applied.map(({ name }) => name));
  if (names.size === 0)
    throw new PartnerSyncError('state_not_ready', 'the state database holds no ledger yet', { absent: true });
  const missing = MIGRATIONS.find(({ name }) => !names.has(name));
  if (missing !== undefined)
    throw new PartnerSyncError(
      'state_not_ready',
      `the ledger is older than this partner-sync (before ${missing.name})`,
    );
  if (names.size > MIGRATIONS.length)
    throw new PartnerSyncError('state_not_ready', 'the ledger was made by a newer partner-sync');
}

const migrationConfig: Knex.MigratorConfig = {
  schemaName: STATE_SCHEMA,
  tableName: 'migrations',
  migrationSource: {
    getMigrations: () => Promise.resolve(MIGRATIONS),
    getMigrationName: (m: (typeof MIGRATIONS)[number]) => m.name,
    getMigration: (m: (typeof MIGRATIONS)[number]) => Promise.resolve(m),
  },
};

/** Deadlock and serialization failure: the transaction is gone as a whole, and the same one may now succeed. */
const TRY_AGAIN = new Set(['40P01', '40001']);

/** Runs a transaction that depends on its input only, once more when the database gave it up. */
export async function twice<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    if (!TRY_AGAIN.has(String((error as { code?: unknown }).code))) throw error;
    return transaction();
  }
}

/** Classes of SQLSTATEs that waiting does not mend: not supported, bad values, missing rights or tables, limits exceeded. */
const NEVER = /^(?:0A|21|22|42|54)[0-9A-Z]{3}$/;

/**
 * Runs `work`, turning whatever the database throws into `state_unreachable` with its SQLSTATE only: the
 * server's message and detail quote values of rows. What has none is the driver's own, or the pool's, and said in full.
 */
export async function inState<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && NEVER.test(code))
      throw new PartnerSyncError(
        'state_refused',
        `the state database refused a statement, and would again (SQLSTATE ${code})`,
        {},
        { cause: error },
      );
    // A broken constraint: a mistake of ours, which may have to do with what happened at the same moment.
    if (typeof code === 'string' && code.startsWith('23'))
      throw new PartnerSyncError(
        'unexpected',
        `the state database refused a statement (SQLSTATE ${code})`,
        {},
        { cause: error },
      );
    const what = typeof code === 'string' ? `code ${code}` : driversWords(error);
    throw new PartnerSyncError('state_unreachable', `state database: ${what}`, {}, { cause: error });
  }
}

/** Knex puts the statement before them. What cannot be parsed is quoted by the error that says so. */
function driversWords(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return error instanceof SyntaxError ? error.name : error.message.split(' - ').at(-1)!;
}

/** The same object with every method's database errors turned into `state_unreachable`. */
export function guarded<T extends object>(part: T): T {
  const methods = Object.entries(part).map(([name, method]) => [
    name,
    (...args: unknown[]) => inState(() => (method as (...a: unknown[]) => Promise<unknown>)(...args)),
  ]);
  return Object.fromEntries(methods) as T;
}
