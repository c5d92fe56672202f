/** Opens the state database and brings its schema up to date. */
import knexLibrary, { type Knex } from 'knex';
import { PartnerSyncError } from '../domain/errors.js';
import * as ledger from './migrations/0001-ledger.js';

export const STATE_SCHEMA = 'partner_sync';
const MIGRATIONS = [ledger];
/** Any constant that no other user of the database takes: serialises migrations of workers that start together. */
const MIGRATION_LOCK = 7_160_345_201;

/** A pool on the state database. `url` may hold a password: it never appears in errors. */
export function openState(url: string, poolMax = 8): Knex {
  return knexLibrary({
    client: 'pg',
    connection: { connectionString: url, application_name: 'partner-sync' },
    searchPath: [STATE_SCHEMA],
    pool: { min: 0, max: poolMax },
    acquireConnectionTimeout: 15_000,
  });
}

/** Creates or updates the tables. Safe when many processes start at once. */
export async function migrateState(knex: Knex): Promise<void> {
  await inState(async () => {
    await knex.raw(`CREATE SCHEMA IF NOT EXISTS ${STATE_SCHEMA}`).catch((error: { code?: string }) => {
      // Two sessions that create it at the same moment: one of them sees a duplicate key, and all is well.
      if (error.code !== '23505') throw error;
    });
    await knex.transaction(async (trx) => {
      await trx.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
      // A process killed while migrating leaves knex's own lock row behind; ours died with its session.
      await knex.migrate.forceFreeMigrationsLock(migrationConfig);
      await knex.migrate.latest(migrationConfig);
    });
  });
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

/**
 * Runs `work`, turning whatever the database throws into `state_unreachable` with its SQLSTATE only: the
 * driver's message and detail quote values of rows.
 */
export async function inState<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const code = (error as { code?: unknown }).code;
    const what = typeof code === 'string' ? `code ${code}` : error instanceof Error ? error.name : 'unknown error';
    throw new PartnerSyncError('state_unreachable', `state database: ${what}`, {}, { cause: error });
  }
}
