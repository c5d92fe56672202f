/**
 * Waits until every transaction that is open now has ended.
 *
 * A snapshot cannot tell: it does not name a transaction that is the newest one, be it committed in the log and not visible
 * yet. But every transaction that writes keeps a lock on its own number, which it releases after it has become visible, and
 * everybody may see these locks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../../domain/errors.js';
import { milliseconds } from '../../../domain/timeouts.js';
import type { FeedDatabase } from '../../dialect.js';

/** number, since when: unknown if the account may not see the transactions of others. Those of other databases do not matter. */
const OPEN_SQL = `
  SELECT l.transactionid::text, coalesce(a.xact_start, p.prepared)::text
  FROM pg_locks l
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    LEFT JOIN pg_prepared_xacts p ON p.transaction = l.transactionid
  WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
    AND coalesce(a.datname, p.database, current_database()) = current_database()`;

/** Resolves when they have ended. Throws `source_query_failed` if that takes longer than `wait` milliseconds. */
export async function openTransactionsHaveEnded(database: FeedDatabase, wait: number): Promise<void> {
  const look = async (): Promise<Map<string, string | null>> => {
    const { rows } = await database.attempt('looking for open transactions', () =>
      database.session.run({ sql: OPEN_SQL, bindings: [] }),
    );
    return new Map(rows.map(([transaction, since]) => [transaction!, since!]));
  };
  const deadline = performance.now() + wait;
  let open = await look();
  while (open.size > 0) {
    if (performance.now() > deadline) throw stillOpen([...open.values()]);
    await sleep(milliseconds('openTransactionsPoll'));
    const now = await look();
    open = new Map([...open].filter(([transaction]) => now.has(transaction)));
  }
}

function stillOpen(since: readonly (string | null)[]): PartnerSyncError {
  const oldest = since.filter((at) => at !== null).toSorted()[0];
  const known = oldest === undefined ? '' : ` (since ${oldest})`;
  return new PartnerSyncError(
    'source_query_failed',
    `source: the feed cannot begin while a transaction is open that had begun before it${known}; ` +
      'find it in pg_stat_activity or pg_prepared_xacts, and end it if its application does not',
    { timedOut: true },
  );
}
