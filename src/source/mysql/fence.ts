/**
 * The upper bound of an incremental read of MySQL and MariaDB: nothing committed later may carry an older stamp.
 *
 * NOW() is the start of a statement, so a transaction's stamps are not older than its start, nor than that of a
 * statement that still waits for its first lock. An account without PROCESS sees neither, and a replica knows
 * nothing of its primary's transactions: both keep a distance to the clock.
 *
 * InnoDB's list of transactions is as old as the last look at it while the looks come less than 100 ms apart; a fence
 * is taken once a run.
 */
import type { Dialect, Session } from '../dialect.js';
import { fenceText, UNSEEN_TRANSACTIONS_DELAY } from '../fence.js';

/** InnoDB writes the start of a transaction in the system's time zone, whatever the session's is. */
const SEEN_SQL = `
  SELECT UTC_TIMESTAMP(6) - INTERVAL GREATEST(0,
    COALESCE((SELECT TIMESTAMPDIFF(SECOND, MIN(trx_started), CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))
      FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()), 0),
    COALESCE((SELECT MAX(time) FROM information_schema.processlist
      WHERE command IN ('Query', 'Execute') AND state LIKE 'Waiting for%lock' AND id <> CONNECTION_ID()), 0)) SECOND - INTERVAL 1 SECOND`;
const UNSEEN_SQL = `SELECT UTC_TIMESTAMP(6) - INTERVAL ${UNSEEN_TRANSACTIONS_DELAY} SECOND`;

const ACCESS_DENIED = 1227;

/** Whether the account may see the transactions of others. */
export async function seesTransactions(session: Session): Promise<boolean> {
  try {
    await session.run({ sql: 'SELECT 1 FROM information_schema.innodb_trx LIMIT 1', bindings: [] });
    return true;
  } catch (error) {
    if ((error as { errno?: unknown }).errno === ACCESS_DENIED) return false;
    throw error;
  }
}

export async function isReplica(session: Session): Promise<boolean> {
  return (await session.run({ sql: 'SELECT @@global.read_only', bindings: [] })).rows[0]![0] !== '0';
}

export const mysqlFence: Dialect['fence'] = async (session, cursor) => {
  const seen = (await seesTransactions(session)) && !(await isReplica(session));
  const { rows } = await session.run({ sql: seen ? SEEN_SQL : UNSEEN_SQL, bindings: [] });
  const digits = Number(/\((\d)\)/.exec(cursor.databaseType)?.[1] ?? 0);
  return fenceText(`${rows[0]![0]!.replace(' ', 'T')}Z`, cursor, { digits, utcSuffix: '' });
};
