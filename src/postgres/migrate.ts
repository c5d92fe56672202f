/** Brings one schema of a database up to date with Knex's migrator. The migrations are modules of this program. */
import type { Knex } from 'knex';

/** A step forward; nothing here goes back. */
export interface NamedMigration {
  /** Recorded in the schema's table `migrations` once it is applied. */
  readonly name: string;
  /** Runs in a transaction of its own. */
  readonly up: (knex: Knex) => Promise<unknown>;
}

/** A schema of a database, with the migrations that create it. */
export interface MigratedSchema {
  readonly schema: string;
  /** Key of the advisory lock that lets one process at a time migrate; each schema needs its own. */
  readonly lock: number;
  /** In the order in which they are applied. One that was released is never changed. */
  readonly migrations: readonly NamedMigration[];
  /**
   * Throws if the migrations must not be applied now; while it runs, nobody else migrates. `applied`: the names of those that
   * the schema has. Default: they always may.
   */
  readonly assertAllowed?: (knex: Knex, applied: readonly string[]) => Promise<void>;
}

/**
 * Creates the schema if it is missing and applies the migrations that its table `migrations` does not list.
 * Safe when many processes start at once. `knex` needs a pool of at least two connections: one holds the lock.
 */
export async function migrateSchema(
  knex: Knex,
  { schema, lock, migrations, assertAllowed }: MigratedSchema,
): Promise<void> {
  const config: Knex.MigratorConfig = {
    schemaName: schema,
    tableName: 'migrations',
    // A schema may have migrations of a newer program; `assertAllowed` judges them.
    disableMigrationsListValidation: true,
    migrationSource: {
      getMigrations: () => Promise.resolve([...migrations]),
      getMigrationName: ({ name }: NamedMigration) => name,
      getMigration: ({ up }: NamedMigration) =>
        Promise.resolve({
          up: async (transaction: Knex) => void (await up(transaction)),
          // Knex requires this function.
          down: () => Promise.reject(new Error('migrations only go forward')),
        }),
    },
  };
  await createSchema(knex, schema);
  await knex.transaction(async (holder) => {
    await holder.raw('SELECT pg_advisory_xact_lock(?)', [lock]);
    const applied = await appliedIn(holder, schema);
    await assertAllowed?.(holder, applied);
    // An account without the privilege to create tables can work once they are there.
    if (migrations.every(({ name }) => applied.includes(name))) return;
    // A process killed while migrating leaves Knex's own lock row behind; the advisory lock ends with its session.
    await knex.migrate.forceFreeMigrationsLock(config);
    await knex.migrate.latest(config);
  });
}

/** Even with IF NOT EXISTS, the statement needs the privilege to create schemas. */
async function createSchema(knex: Knex, schema: string): Promise<void> {
  const { rows } = await knex.raw<{ rows: unknown[] }>('SELECT FROM pg_namespace WHERE nspname = ?', [schema]);
  if (rows.length > 0) return;
  await knex.raw('CREATE SCHEMA IF NOT EXISTS ??', [schema]).catch((error: { code?: string }) => {
    // If two sessions create the schema at the same moment, one of them gets this error for a duplicate key.
    if (error.code !== '23505') throw error;
  });
}

/** The names of the migrations that the schema has, in no order. */
async function appliedIn(knex: Knex, schema: string): Promise<string[]> {
  if (!(await knex.schema.withSchema(schema).hasTable('migrations'))) return [];
  const rows = await knex.withSchema(schema).from('migrations').select<{ name: string }[]>('name');
  return rows.map(({ name }) => name);
}
