/** Creates and upgrades the sandbox's tables in the PostgreSQL schema `sandbox`. */
import { readFile } from 'node:fs/promises';
import knexLibrary, { type Knex } from 'knex';
import { migrateSchema, type MigratedSchema } from '../postgres/migrate.js';

const SANDBOX: MigratedSchema = {
  schema: 'sandbox',
  lock: 7_160_345_202,
  // Each is a file of migrations/; the next one is added at the end.
  migrations: ['0001-sandbox'].map((name) => ({
    name,
    up: async (knex: Knex) => {
      await knex.raw(await readFile(new URL(`migrations/${name}.sql`, import.meta.url), 'utf8'));
    },
  })),
};

/** PostgreSQL 16 is the first with `pg_input_is_valid`, which tests whether a text is a date without failing. */
const OLDEST_SERVER = 160_000;

/** The database server lacks functions that some operations need. */
export class ServerTooOld extends Error {
  override readonly name = 'ServerTooOld';
}

/** Throws {@link ServerTooOld} for a server older than PostgreSQL 16. */
export async function assertServer(db: Pick<Knex, 'raw'>): Promise<void> {
  const { rows } = await db.raw<{ rows: { version: string; version_name: string }[] }>(
    `select current_setting('server_version_num') as version, current_setting('server_version') as version_name`,
  );
  if (Number(rows[0]!.version) < OLDEST_SERVER)
    throw new ServerTooOld(
      `the sandbox needs PostgreSQL 16 or newer; its database server is version ${rows[0]!.version_name}`,
    );
}

/**
 * Creates or upgrades the tables in the database at `stateUrl`. Several processes may do so at once: a lock serializes
 * them. Throws {@link ServerTooOld}.
 */
export async function migrate(stateUrl: string): Promise<void> {
  const knex = knexLibrary({
    client: 'pg',
    connection: { connectionString: stateUrl, application_name: 'partner-sync sandbox migrations' },
    pool: { min: 0, max: 2 },
    // knex would print failures as well as throw them, and stdout is reserved for a command's result.
    log: { warn: () => undefined, error: () => undefined, deprecate: () => undefined, debug: () => undefined },
  });
  try {
    await assertServer(knex);
    await migrateSchema(knex, SANDBOX);
  } finally {
    await knex.destroy();
  }
}
