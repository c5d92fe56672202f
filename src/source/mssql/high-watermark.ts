/**
 * The high watermark of SQL Server: no row committed later may carry an older timestamp or rowversion.
 *
 * For a rowversion it is the lowest that an open transaction may still write. For timestamps it is the start of the
 * oldest open transaction, which an account with VIEW SERVER STATE can see; without that, the clock minus a delay. A
 * secondary replica may lag by any amount of time: unless it tells by how much, nothing is read.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { Dialect, Session } from '../dialect.js';
import { highWatermarkText, UNSEEN_TRANSACTIONS_DELAY } from '../high-watermark-text.js';

/** With the offset of now: a time from before the clocks were set back comes out too late (docs/sources.md). */
const utc = (local: string): string => `DATEADD(second, DATEDIFF(second, SYSDATETIME(), SYSUTCDATETIME()), ${local})`;
const text = (instant: string): string => `CONVERT(nvarchar(30), CAST(${instant} AS datetime2(6)), 126)`;

const READS_AND_WRITES = 1;
const DISTRIBUTED = 4;
/** Minus one second, since these times are rounded to a three-hundredth of one. */
const SEEN_SQL = `
  SELECT ${text(`DATEADD(second, -1, MIN(at))`)} FROM (
    SELECT SYSUTCDATETIME() AS at
    UNION ALL SELECT ${utc('CAST(t.transaction_begin_time AS datetime2(7))')}
      FROM sys.dm_tran_active_transactions t
      WHERE t.transaction_id <> CURRENT_TRANSACTION_ID() AND t.transaction_type IN (${READS_AND_WRITES}, ${DISTRIBUTED})) x`;
const UNSEEN_SQL = `SELECT ${text(`DATEADD(second, -${UNSEEN_TRANSACTIONS_DELAY}, SYSUTCDATETIME())`)}`;
const REPLICA_SQL = `
  SELECT ${text(`DATEADD(second, -${UNSEEN_TRANSACTIONS_DELAY}, ${utc('CAST(last_commit_time AS datetime2(7))')})`)}
  FROM sys.dm_hadr_database_replica_states WHERE is_local = 1 AND database_id = DB_ID()`;
const ROWVERSION_SQL = 'SELECT CONVERT(nvarchar(18), MIN_ACTIVE_ROWVERSION(), 1)';

/** What the account and the database allow. */
export interface Status {
  readonly seesTransactions: boolean;
  /** Whether the database takes no writes, as a replica or because it was set so. */
  readonly readOnly: boolean;
}

/** Looks up the {@link Status} of a session. */
export async function statusOf(session: Session): Promise<Status> {
  const { rows } = await session.run({
    sql: `SELECT CONVERT(nvarchar(1), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')),
            CONVERT(nvarchar(20), DATABASEPROPERTYEX(DB_NAME(), 'Updateability'))`,
    bindings: [],
  });
  const [sees, updateability] = rows[0]!;
  return { seesTransactions: sees === '1', readOnly: updateability === 'READ_ONLY' };
}

/** See {@link Dialect.highWatermark}. Throws `config_invalid` for a replica whose lag is unknown. */
export const mssqlHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const ask = async (sql: string): Promise<string | null | undefined> =>
    (await session.run({ sql, bindings: [] })).rows[0]?.[0];
  const { seesTransactions, readOnly } = await statusOf(session);
  if (cursor.databaseType === 'rowversion') {
    if (readOnly) throw behind('the high watermark of a rowversion is known only where it is written');
    return (await ask(ROWVERSION_SQL))!.toLowerCase().replace('0x', '\\x');
  }
  if (readOnly && !seesTransactions) throw behind('the account may not see how far it lags');
  const instant = readOnly
    ? ((await ask(REPLICA_SQL)) ?? (await ask(UNSEEN_SQL)))
    : await ask(seesTransactions ? SEEN_SQL : UNSEEN_SQL);
  return highWatermarkText(`${instant}Z`, cursor, { digits: digitsOf(cursor.databaseType), utcSuffix: '+00' });
};

const behind = (why: string): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `source: the database is read-only, perhaps a lagging replica, and ${why}; read from the primary, or GRANT VIEW SERVER STATE`,
  );

/** Digits of a fraction of a second that the type keeps, at most the six of the query. */
function digitsOf(databaseType: string): number {
  if (databaseType === 'datetime') return 3;
  return Math.min(6, Number(/\((\d)\)/.exec(databaseType)?.[1] ?? 0));
}
