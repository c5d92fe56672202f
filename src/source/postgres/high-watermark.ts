/**
 * The high watermark of PostgreSQL: no row committed later may carry an older timestamp.
 *
 * now() is the start of a transaction, so one that is still open may commit rows with the time it began at: the high
 * watermark is the start of the oldest open one. An account that may not see other sessions' transactions gets the
 * clock minus a delay instead (pg_read_all_stats makes the high watermark exact).
 */
import type { Dialect } from '../dialect.js';
import { highWatermarkText, UNSEEN_TRANSACTIONS_DELAY } from '../high-watermark-text.js';

const DELAY = `interval '${UNSEEN_TRANSACTIONS_DELAY} seconds'`;
const HIGH_WATERMARK_SQL = `
  SELECT to_char((CASE
    -- A standby does not know the primary's transactions, only how far it has replayed them.
    WHEN pg_is_in_recovery() THEN coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()) - ${DELAY}
    WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN least(
      clock_timestamp(),
      (SELECT min(xact_start) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND backend_type IN ('client backend', 'parallel worker', 'logical replication worker',
           'logical replication apply worker', 'logical replication parallel worker')),
      (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database()))
    ELSE clock_timestamp() - ${DELAY}
  END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Digits of a fraction of a second: six, unless the type declares fewer. */
const digitsOf = (databaseType: string): number => Number(/\((\d)\)/.exec(databaseType)?.[1] ?? 6);

/** See {@link Dialect.highWatermark}. */
export const postgresHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const { rows } = await session.run({ sql: HIGH_WATERMARK_SQL, bindings: [] });
  return highWatermarkText(rows[0]![0]!, cursor, { digits: digitsOf(cursor.databaseType), utcSuffix: '+00' });
};
