/**
 * The high watermark of MySQL and MariaDB: no row committed later may carry an older timestamp.
 *
 * NOW() is the start of a statement, so a transaction's timestamps are not older than its start, nor than that of a
 * statement that is still running: InnoDB knows of it only once it has touched one of InnoDB's tables. An account without
 * PROCESS sees neither, and a replica knows nothing of its primary's transactions: in both cases the high watermark stays
 * a fixed delay behind the clock.
 *
 * InnoDB refreshes its list of transactions at most every 100 ms; that does not matter, since a high watermark is taken
 * once a run.
 */
import type { Dialect, Session } from '../dialect.js';
import { highWatermarkText, UNSEEN_TRANSACTIONS_DELAY } from '../high-watermark-text.js';
import { isReadOnly } from './read-only.js';

/**
 * The text of a statement that may write a row with the time at which it, or the statement that has called it, began. What a function
 * or a trigger runs is shown instead of what has called it; a SELECT there needs INTO. Only threads that run a statement have a text.
 */
const MAY_WRITE = "(info NOT LIKE 'SELECT%' OR info LIKE '%INTO%')";

/**
 * InnoDB reports the start of a transaction in the system's time zone, whatever the session's is. If that zone sets its
 * clocks back meanwhile, the transaction seems younger than it is (docs/sources.md): a local time does not tell.
 */
const SEEN_SQL = `
  SELECT UTC_TIMESTAMP(6) - INTERVAL GREATEST(0,
    COALESCE((SELECT TIMESTAMPDIFF(SECOND, MIN(trx_started), CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))
      FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()), 0),
    COALESCE((SELECT MAX(time) FROM information_schema.processlist
      WHERE ${MAY_WRITE} AND id <> CONNECTION_ID()), 0)) SECOND - INTERVAL 1 SECOND`;
const UNSEEN_SQL = `SELECT UTC_TIMESTAMP(6) - INTERVAL ${UNSEEN_TRANSACTIONS_DELAY} SECOND`;

const ACCESS_DENIED = 1227;

/** Whether the account may see the transactions of other sessions. */
export async function seesTransactions(session: Session): Promise<boolean> {
  try {
    await session.run({ sql: 'SELECT 1 FROM information_schema.innodb_trx LIMIT 1', bindings: [] });
    return true;
  } catch (error) {
    if ((error as { errno?: unknown }).errno === ACCESS_DENIED) return false;
    throw error;
  }
}

/** Whether the server takes no writes, as a replica does. */
export async function isReplica(session: Session): Promise<boolean> {
  return isReadOnly((await session.run({ sql: 'SELECT @@global.read_only', bindings: [] })).rows[0]![0]!);
}

/**
 * Since when the oldest open transaction may be open: null if the account cannot see; and what time it was `delay` seconds
 * ago. Both by the server's clock, in UTC.
 */
export async function oldestOpenTransaction(
  session: Session,
  delay: number,
): Promise<{ readonly oldest: string | null; readonly before: string }> {
  const sees = await seesTransactions(session);
  const { rows: clock } = await session.run({
    sql: `SELECT UTC_TIMESTAMP(6) - INTERVAL ${delay} SECOND`,
    bindings: [],
  });
  const oldest = sees ? (await session.run({ sql: SEEN_SQL, bindings: [] })).rows[0]![0]! : null;
  return { oldest, before: clock[0]![0]! };
}

/** See {@link Dialect.highWatermark}. */
export const mysqlHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const seen = (await seesTransactions(session)) && !(await isReplica(session));
  const { rows } = await session.run({ sql: seen ? SEEN_SQL : UNSEEN_SQL, bindings: [] });
  const digits = Number(/\((\d)\)/.exec(cursor.databaseType)?.[1] ?? 0);
  return highWatermarkText(`${rows[0]![0]!.replace(' ', 'T')}Z`, cursor, { digits, utcSuffix: '+00' });
};
