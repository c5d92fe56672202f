/**
 * The upper bound of an incremental read: nothing committed later may carry an older stamp.
 *
 * A transaction that began earlier may still commit rows stamped with its beginning; so the fence is the
 * start of the oldest one still open. An account that may not see the others' transactions gets the
 * database's clock minus a delay instead (grant pg_read_all_stats for the exact fence).
 */
export const UNSEEN_TRANSACTIONS_DELAY = 30;

export const FENCE_SQL = `
  SELECT CASE
    -- A standby does not know the primary's transactions, only how far it has replayed them.
    WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() - interval '${UNSEEN_TRANSACTIONS_DELAY} seconds'
    WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN least(
      clock_timestamp(),
      (SELECT min(xact_start) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND backend_type IN ('client backend', 'parallel worker', 'logical replication worker',
           'logical replication apply worker', 'logical replication parallel worker')),
      (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database()))
    ELSE clock_timestamp() - interval '${UNSEEN_TRANSACTIONS_DELAY} seconds'
  END`;
