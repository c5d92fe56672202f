/** The sandbox's own PostgreSQL connections and transactions. */
import pg from 'pg';
import type { Logger } from 'pino';

/** Connections kept for requests, besides one for each batch in work. */
const REQUEST_CONNECTIONS = 8;

/** What a query needs: the pool, or the connection of a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

export function openPool(stateUrl: string, batchesAtOnce: number, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: stateUrl,
    max: REQUEST_CONNECTIONS + batchesAtOnce,
    application_name: 'partner-sync sandbox',
    // Lookups of a few hundred ids must use the index before anything has been analyzed; the default of 4 prefers
    // to scan the whole table, for every batch. Days and months of segments are those of UTC.
    options: '-c random_page_cost=1.1 -c timezone=UTC',
  });
  // An idle connection that the server ends is replaced by the pool; unheard, the event would end the process.
  pool.on('error', (error) => logger.warn({ reason: error.message }, 'a database connection was lost'));
  return pool;
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
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
 * Makes this transaction the only one that changes the tenant's resources until it ends.
 *
 * Without it a parent could be stored between a child's look for it and the child being put on hold: the child
 * would wait for something that is already there. It also rules out deadlocks between batches with common records.
 */
export async function lockTenant(db: Queryable, tenantId: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox tenant ' || $1, 0))`, [tenantId]);
}
