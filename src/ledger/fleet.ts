/** The registry of the fleet in the ledger: who sends for which sync, what limits were set, and the platform's Retry-After. */
import type { Knex } from 'knex';
import type { FleetRegistry, FleetState, FleetView, Rate, SyncShare } from '../domain/monitoring/fleet.js';
import { seconds } from '../domain/timeouts.js';
import { inLedger, openLedgerDatabase, withLedgerErrors } from './database/connection.js';
import { inTransaction } from './database/statements.js';

/** The registry, and where limits are set at run time. */
export interface Fleet extends FleetRegistry {
  /**
   * Sets limits of a sync for all processes, instead of those in its sync.yaml; an absent part is as sync.yaml says, and
   * null takes everything back. Processes that send for the sync follow within two seconds.
   */
  setRate(sync: string, rate: Partial<Rate> | null): Promise<void>;
}

export const openFleetView = (knex: Knex): FleetView => ({
  async retryAfterMs(account) {
    const { rows } = await knex.raw<{ rows: { retry_after_ms: number }[] }>(
      `SELECT ${REMAINING_MS} AS retry_after_ms`,
      { account },
    );
    return rows[0]!.retry_after_ms;
  },
});

export function openFleet(knex: Knex): Fleet {
  return {
    ...openFleetView(knex),
    async heartbeat(process, account, underWay) {
      const { rows } = await knex.raw<{ rows: Row[] }>(BEAT, {
        process,
        account,
        syncs: [...underWay.keys()],
        underWay: [...underWay.values()],
        gone: seconds('fleetGone'),
      });
      return stateOf(rows);
    },
    takeTurn: (process, account, sync, request) =>
      inTransaction(knex, async (trx) => {
        // Whoever asks sees who has got a turn before.
        await trx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`turns ${account} ${sync}`]);
        const { rows } = await trx.raw<{ rows: { may_send: boolean }[] }>(TURN, {
          process,
          account,
          sync,
          ...request,
          turn: seconds('fleetTurn'),
          gone: seconds('fleetGone'),
        });
        return rows[0]?.may_send ?? false;
      }),
    async leave(process) {
      await knex('senders').where({ process }).delete();
    },
    setRetryAfter: (account, ms) => extendRetryAfter(knex, account, ms),
    async setRate(sync, rate) {
      if (rate === null) await knex('sync_rates').where({ sync }).delete();
      else
        await knex('sync_rates')
          .insert({ sync, at_once: rate.atOnce ?? null, per_second: rate.perSecond ?? null })
          .onConflict('sync')
          .merge();
    },
  };
}

/** A session for the registry alone, of a process that has the ledger for reading only. */
export interface FleetSession extends Fleet {
  close(): Promise<void>;
}

/** null if the account may not write, or the database is a standby. */
export async function openFleetSession(url: string): Promise<FleetSession | null> {
  const knex = openLedgerDatabase(url, { poolMax: 1 });
  const close = (): Promise<void> => knex.destroy();
  try {
    const { rows } = await inLedger(() => knex.raw<{ rows: { may_write: boolean }[] }>(MAY_WRITE));
    if (rows[0]!.may_write) return { ...withLedgerErrors(openFleet(knex)), close };
  } catch (error) {
    await close();
    throw error;
  }
  await close();
  return null;
}

const MAY_WRITE = `SELECT current_setting('transaction_read_only') = 'off' AND has_table_privilege('senders', 'INSERT')
  AND has_table_privilege('senders', 'UPDATE') AND has_table_privilege('senders', 'DELETE') AS may_write`;

/** {@link FleetRegistry.setRetryAfter} for a process that has the ledger for reading only: with a session for this one statement. */
export async function writeRetryAfter(url: string, account: string, ms: number): Promise<void> {
  const knex = openLedgerDatabase(url, { poolMax: 1 });
  try {
    await extendRetryAfter(knex, account, ms);
  } finally {
    await knex.destroy();
  }
}

/** A later end that was named before stays. */
async function extendRetryAfter(knex: Knex, account: string, ms: number): Promise<void> {
  await knex.raw(
    `INSERT INTO platform_retry_after AS r (account, until) VALUES (:account, now() + :ms * interval '1 millisecond')
     ON CONFLICT (account) DO UPDATE SET until = greatest(r.until, excluded.until),
       since = CASE WHEN r.until > now() - ${seconds('retryingEnds')} * interval '1 second' THEN r.since ELSE now() END`,
    { account, ms },
  );
}

/** Milliseconds until the requests of the account may be sent, in SQL. */
const REMAINING_MS = `coalesce((SELECT greatest(0, extract(epoch FROM until - now()) * 1000) FROM platform_retry_after WHERE account = :account), 0)::float8`;

/**
 * One statement, each second from every process that sends. It cannot see its own row, and so adds it. Rows of dead
 * processes are removed in passing.
 */
const BEAT = `
  WITH own AS (
    INSERT INTO senders AS s (process, sync, account, under_way)
    SELECT :process, sync, :account, under_way
    FROM unnest(CAST(:syncs AS text[]), CAST(:underWay AS integer[])) AS given(sync, under_way)
    ON CONFLICT (sync, process) DO UPDATE SET seen_at = now(), account = excluded.account, under_way = excluded.under_way,
      joined_at = CASE WHEN s.seen_at < now() - :gone * interval '1 second' THEN now() ELSE s.joined_at END
    RETURNING sync, process, under_way, joined_at
  ), dead AS (
    DELETE FROM senders WHERE (process = :process AND sync <> ALL (CAST(:syncs AS text[])))
      OR (process <> :process AND seen_at < now() - 4 * :gone * interval '1 second')
  ), others AS (
    SELECT sync, process, under_way FROM senders
    WHERE account = :account AND process <> :process AND seen_at >= now() - :gone * interval '1 second'
  )
  SELECT ${REMAINING_MS} AS retry_after_ms, own.sync, extract(epoch FROM now() - own.joined_at)::float8 * 1000 AS joined,
    (SELECT count(*) FROM others WHERE others.sync = own.sync AND others.process < :process)::int AS index,
    ARRAY(SELECT under_way FROM (SELECT * FROM others UNION ALL SELECT sync, process, under_way FROM own) all_senders
          WHERE all_senders.sync = own.sync ORDER BY process) AS under_way,
    r.at_once, r.per_second
  FROM (SELECT 1) one LEFT JOIN own ON true LEFT JOIN sync_rates r ON r.sync = own.sync`;

/**
 * One statement, each second from every process that takes turns. A turn takes one of the limit's requests, or as many as are
 * still under way from a time with fewer senders. It is over once it has lasted and more processes wait than have had
 * theirs for longer; then the process stops sending, and the turn ends when nothing of it is under way.
 */
const TURN = `
  WITH others AS (
    SELECT process, under_way, turn_since, waiting_since FROM senders
    WHERE sync = :sync AND account = :account AND process <> :process AND seen_at >= now() - :gone * interval '1 second'
  ), own AS (
    SELECT s.turn_since, coalesce(s.waiting_since, now()) AS waiting_since,
      s.turn_since < now() - :turn * interval '1 second' AND (SELECT count(*) FROM others WHERE waiting_since IS NOT NULL)
        > (SELECT count(*) FROM others WHERE turn_since < s.turn_since) AS is_over
    FROM senders s WHERE s.sync = :sync AND s.process = :process
  ), decided AS (
    SELECT CASE WHEN turn_since IS NOT NULL THEN NOT is_over OR :sends OR :underWay > 0
      ELSE :wants AND :limit > (SELECT coalesce(sum(greatest(under_way, (turn_since IS NOT NULL)::int)), 0) FROM others)
        + (SELECT count(*) FROM others WHERE (others.waiting_since, others.process) < (own.waiting_since, :process)) END AS has_turn,
      coalesce(is_over, false) AS is_over
    FROM own
  )
  UPDATE senders SET under_way = :underWay, turn_since = CASE WHEN has_turn THEN coalesce(turn_since, now()) END,
    waiting_since = CASE WHEN NOT has_turn AND :wants THEN coalesce(waiting_since, now()) END
  FROM decided WHERE sync = :sync AND process = :process
  RETURNING has_turn AND NOT is_over AS may_send`;

interface Row {
  readonly retry_after_ms: number;
  /** null in the only row of a process that sends for no sync. */
  readonly sync: string | null;
  readonly joined: number;
  readonly index: number;
  readonly under_way: readonly number[];
  readonly at_once: number | null;
  readonly per_second: number | null;
}

function stateOf(rows: readonly Row[]): FleetState {
  const shares = new Map<string, SyncShare>();
  for (const { sync, joined, index, under_way: underWay, at_once, per_second } of rows) {
    if (sync === null) continue;
    const set = { ...(at_once !== null && { atOnce: at_once }), ...(per_second !== null && { perSecond: per_second }) };
    shares.set(sync, { joinedMs: joined, index, underWay, set });
  }
  return { retryAfterMs: rows[0]!.retry_after_ms, shares };
}
