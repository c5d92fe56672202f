/**
 * The high watermark of PostgreSQL: no row committed later may carry an older timestamp.
 *
 * now() is the start of a transaction, so one that is still open may commit rows with the time it began at: the high
 * watermark is the start of the oldest open one. An account that may not see other sessions' transactions gets the
 * clock minus a delay instead (pg_read_all_stats makes the high watermark exact).
 *
 * Of a prepared transaction, PostgreSQL only knows when it was prepared, not when it began. So the high watermark is taken
 * first, and is valid once all transactions that are prepared then have ended: those that were open are in it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../domain/errors.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { Dialect, Session } from '../dialect.js';
import { highWatermarkText, UNSEEN_TRANSACTIONS_DELAY } from '../high-watermark-text.js';

const DELAY = `interval '${UNSEEN_TRANSACTIONS_DELAY} seconds'`;

/** Sessions that may write rows. Background workers of extensions do, too, and name their own type. */
const SESSIONS = `pg_stat_activity WHERE datname = current_database() AND backend_type NOT IN ('autovacuum worker', 'walsender')`;

/** SQL that tells whether the account may see other sessions' transactions. */
export const MAY_SEE_TRANSACTIONS = `pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`;
/**
 * SQL that tells whether a session has the setting track_activities off, and so does not report its transactions. The account's own
 * counts: it is off if the setting is that of the server or the database, even where no other session is there yet.
 */
export const TRANSACTIONS_ARE_HIDDEN = `EXISTS (SELECT FROM ${SESSIONS} AND state = 'disabled')`;

const HIGH_WATERMARK_SQL = `
  SELECT pg_is_in_recovery()::text, to_char((CASE
    -- A standby does not know the primary's transactions, only how far it has replayed them.
    WHEN pg_is_in_recovery() THEN coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()) - ${DELAY}
    WHEN ${MAY_SEE_TRANSACTIONS} AND NOT ${TRANSACTIONS_ARE_HIDDEN} THEN least(
      clock_timestamp(),
      (SELECT min(xact_start) FROM ${SESSIONS} AND pid <> pg_backend_pid()))
    ELSE clock_timestamp() - ${DELAY}
  END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const PREPARED_SQL =
  'SELECT transaction::text, prepared::text FROM pg_prepared_xacts WHERE database = current_database()';

/** Resolves when all transactions that are prepared now have ended. Throws `source_query_failed` if that takes long. */
async function preparedHaveEnded(session: Session): Promise<void> {
  const prepared = async (): Promise<Map<string, string>> => {
    const { rows } = await session.run({ sql: PREPARED_SQL, bindings: [] });
    return new Map(rows.map(([transaction, at]) => [transaction!, at!]));
  };
  const deadline = performance.now() + milliseconds('preparedTransactions');
  let open = await prepared();
  while (open.size > 0) {
    if (performance.now() > deadline)
      throw new PartnerSyncError(
        'source_query_failed',
        `source: the high watermark is unknown while a transaction is prepared (since ${[...open.values()].toSorted()[0]}); ` +
          'find it in pg_prepared_xacts, and commit it or roll it back if its transaction manager does not',
        { timedOut: true },
      );
    await sleep(milliseconds('preparedTransactionsPoll'));
    const now = await prepared();
    open = new Map([...open].filter(([transaction]) => now.has(transaction)));
  }
}

/** Digits of a fraction of a second: six, unless the type declares fewer. */
const digitsOf = (databaseType: string): number => Number(/\((\d)\)/.exec(databaseType)?.[1] ?? 6);

/** See {@link Dialect.highWatermark}. */
export const postgresHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const { rows } = await session.run({ sql: HIGH_WATERMARK_SQL, bindings: [] });
  const [isStandby, highWatermark] = rows[0]!;
  // In this order: a transaction that is prepared between the two statements was still open in the first.
  if (isStandby === 'false') await preparedHaveEnded(session);
  return highWatermarkText(highWatermark!, cursor, { digits: digitsOf(cursor.databaseType), utcSuffix: '+00' });
};
