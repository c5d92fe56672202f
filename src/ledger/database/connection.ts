/** The ledger's database: connections, migrations, and its errors as errors of partner-sync. */
import knexLibrary, { type Knex } from 'knex';
import type { Client } from 'pg';
import { PartnerSyncError } from '../../domain/errors.js';
import type { LedgerMeter } from '../../domain/monitoring/meters.js';
import { limitResponseTime } from '../../postgres/response-deadline.js';
import { migrateSchema } from '../../postgres/migrate.js';
import { assertMigratable, assertNotNewer, sessionName, type LedgerMigration } from './ledger-versions.js';
import { MIGRATIONS as ALL_MIGRATIONS } from '../migrations/all.js';
import { milliseconds } from '../../domain/timeouts.js';

export const STATE_SCHEMA = 'partner_sync';
const MIGRATIONS: readonly LedgerMigration[] = ALL_MIGRATIONS;
/** An arbitrary number: the advisory lock under which workers that start together migrate one after the other. */
const MIGRATION_LOCK = 7_160_345_201;

/** Knex would print stack traces to stdout, into the middle of a command's result. */
const QUIET = { warn: () => undefined, error: () => undefined, deprecate: () => undefined, debug: () => undefined };

/**
 * A pool of connections to the ledger's database, of which `poolMin` stay open. `url` may hold a password, which never
 * appears in errors.
 */
export function openLedgerDatabase(
  url: string,
  { poolMin = 0, poolMax = 8, readOnly = false, migrations = MIGRATIONS } = {},
): Knex {
  return knexLibrary({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: sessionName(migrations),
      keepAlive: true,
      // A process that is frozen in a transaction must not block its successor.
      options: [
        `-c idle_in_transaction_session_timeout=${milliseconds('ledgerIdleTransaction')}`,
        `-c lock_timeout=${milliseconds('ledgerLock')}`,
        `-c statement_timeout=${milliseconds('ledgerStatement')}`,
        ...(readOnly ? ['-c default_transaction_read_only=on'] : []),
      ].join(' '),
    },
    searchPath: [STATE_SCHEMA],
    pool: {
      min: poolMin,
      max: poolMax,
      afterCreate(connection: Client, done: (error: unknown, connection: Client) => void) {
        limitResponseTime(connection, milliseconds('ledgerResponse'));
        done(null, connection);
      },
    },
    acquireConnectionTimeout: milliseconds('ledgerPool'),
    // Otherwise an error's message would quote the values, at times a megabyte of them.
    compileSqlOnError: false,
    log: QUIET,
  });
}

/** Reports how long each statement takes, including those that fail, and how many connections are in use. */
export function measure(knex: Knex, meter: LedgerMeter): void {
  const { pool } = knex.client as { readonly pool: { numUsed(): number; readonly max: number } };
  meter.watchConnections({ connections: () => pool.numUsed(), connectionLimit: pool.max });
  const begun = new Map<string, number>();
  const ended = ({ __knexQueryUid: id }: Statement): void => {
    const at = begun.get(id);
    if (at === undefined) return;
    begun.delete(id);
    meter.statementEnded((performance.now() - at) / 1000);
  };
  knex.on('query', ({ __knexQueryUid: id }: Statement) => void begun.set(id, performance.now()));
  knex.on('query-response', (_: unknown, statement: Statement) => ended(statement));
  knex.on('query-error', (_: unknown, statement: Statement) => ended(statement));
}

/** What Knex's events tell of a statement. */
interface Statement {
  readonly __knexQueryUid: string;
}

/**
 * Creates or updates the tables. Safe when many processes start at once. Throws `state_not_ready` for a ledger that is newer
 * than this program, and while an older program is connected that an update would break.
 */
export async function migrateLedger(knex: Knex, migrations: readonly LedgerMigration[] = MIGRATIONS): Promise<void> {
  const assertAllowed = (holder: Knex, applied: readonly string[]): Promise<void> =>
    assertMigratable(holder, applied, migrations);
  await inLedger(() => migrateSchema(knex, { schema: STATE_SCHEMA, lock: MIGRATION_LOCK, migrations, assertAllowed }));
}

/** Throws `state_not_ready` unless the tables are those of this version; writes nothing. */
export async function assertMigrated(knex: Knex): Promise<void> {
  const applied = await inLedger(async () => {
    const { rows } = await knex.raw<{ rows: { there: boolean }[] }>(
      `SELECT to_regclass('${STATE_SCHEMA}.migrations') IS NOT NULL AS there`,
    );
    return rows[0]!.there ? await knex('migrations').select<{ name: string }[]>('name') : [];
  });
  const names = new Set(applied.map(({ name }) => name));
  if (names.size === 0)
    throw new PartnerSyncError('state_not_ready', "the ledger's database contains no ledger yet", { absent: true });
  const missing = MIGRATIONS.find(({ name }) => !names.has(name));
  if (missing !== undefined)
    throw new PartnerSyncError(
      'state_not_ready',
      `the ledger is older than this partner-sync (before ${missing.name})`,
    );
  assertNotNewer([...names], MIGRATIONS);
}

/** Classes of SQLSTATE that no retry fixes: not supported, bad values, missing rights or tables, limits exceeded. */
const NEVER = /^(?:0A|21|22|42|54)[0-9A-Z]{3}$/;

/**
 * Runs `work`, and turns errors of the database into `state_refused` if no retry can help, `unexpected` for a broken
 * constraint, else `state_unreachable`. The message has only the SQLSTATE of a server's error, since its text quotes
 * values of rows, but the full text of an error of the driver or the pool.
 */
export async function inLedger<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && NEVER.test(code))
      throw new PartnerSyncError(
        'state_refused',
        `the ledger's database rejected a statement; retrying would not help (SQLSTATE ${code})`,
        {},
        { cause: error },
      );
    // A broken constraint is a bug, perhaps one that shows only beside other transactions.
    if (typeof code === 'string' && code.startsWith('23'))
      throw new PartnerSyncError(
        'unexpected',
        `the ledger's database rejected a statement (SQLSTATE ${code})`,
        {},
        { cause: error },
      );
    const what = typeof code === 'string' ? `code ${code}` : driverMessage(error);
    throw new PartnerSyncError('state_unreachable', `the ledger's database: ${what}`, {}, { cause: error });
  }
}

/** The driver's message without the statement that Knex puts before it and the text that JSON.parse would quote. */
function driverMessage(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return error instanceof SyntaxError ? error.name : error.message.split(' - ').at(-1)!;
}

/** The same object, with every method run by {@link inLedger}. */
export function withLedgerErrors<T extends object>(part: T): T {
  const methods = Object.entries(part).map(([name, method]) => [
    name,
    (...args: unknown[]) => inLedger(() => (method as (...a: unknown[]) => Promise<unknown>)(...args)),
  ]);
  return Object.fromEntries(methods) as T;
}
