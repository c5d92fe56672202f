/** The sandbox's connection pool, its transactions and the lock that serializes changes to a tenant. */
import pg from 'pg';
import type { Logger } from 'pino';

/** Connections for requests, in addition to one for each batch that is processed at the same time. */
const REQUEST_CONNECTIONS = 8;

/** Anything that can run a query: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * Creates the pool; the first query connects. A lost idle connection is logged and replaced.
 *
 * `batchesAtOnce` reserves one connection per batch worker, so that busy workers cannot starve requests.
 */
export function createPool(stateUrl: string, batchesAtOnce: number, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: stateUrl,
    max: REQUEST_CONNECTIONS + batchesAtOnce,
    application_name: 'partner-sync sandbox',
    // random_page_cost: lookups of a few hundred ids must use the index even before the table was analyzed; with the
    // default of 4 every batch would scan the whole table. timezone: segments count days and months in UTC.
    options: '-c random_page_cost=1.1 -c timezone=UTC',
  });
  // The pool replaces an idle connection that the server closes; without a listener the event would end the process.
  pool.on('error', (error) => logger.warn({ reason: error.message }, 'a database connection was lost'));
  return pool;
}

/**
 * Runs `work` in one transaction: commits when it resolves, rolls back and rethrows when it rejects.
 *
 * A connection that broke meanwhile is destroyed instead of being returned to the pool.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  let broken: Error | undefined;
  const noteLoss = (error: Error) => (broken = error);
  db.on('error', noteLoss);
  try {
    await db.query('begin');
    const result = await work(db);
    await db.query('commit');
    return result;
  } catch (error) {
    await db.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    db.off('error', noteLoss);
    db.release(broken);
  }
}

/**
 * Takes the tenant's advisory lock, which serializes changes to its resources until the transaction ends.
 *
 * Without it, a parent could be stored between a child's check for it and the moment the child becomes pending, and the
 * child would wait for a record that already exists. The lock also prevents deadlocks between batches that share
 * records.
 */
export async function lockTenant(db: Queryable, tenantId: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox tenant ' || $1, 0))`, [tenantId]);
}
