/**
 * The upper bound of an incremental read of PostgreSQL: nothing committed later may carry an older stamp.
 *
 * A transaction that began earlier may still commit rows stamped with its beginning; so the fence is the
 * start of the oldest one still open. An account that may not see the others' transactions gets the
 * database's clock minus a delay instead (grant pg_read_all_stats for the exact fence).
 */
import type { Dialect } from '../dialect.js';
import { fenceText, UNSEEN_TRANSACTIONS_DELAY } from '../fence.js';

const DELAY = `interval '${UNSEEN_TRANSACTIONS_DELAY} seconds'`;
const FENCE_SQL = `
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

/** Digits of a second: six, unless the type says fewer. */
const digitsOf = (databaseType: string): number => Number(/\((\d)\)/.exec(databaseType)?.[1] ?? 6);

export const postgresFence: Dialect['fence'] = async (session, cursor) => {
  const { rows } = await session.run({ sql: FENCE_SQL, bindings: [] });
  return fenceText(rows[0]![0]!, cursor, { digits: digitsOf(cursor.databaseType), utcSuffix: '+00' });
};
