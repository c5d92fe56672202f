/**
 * The upper bound of an incremental read of SQL Server: nothing committed later may carry an older stamp.
 *
 * A rowversion has a fence of its own: the least one that an open transaction may still write. For stamps it is the
 * start of the oldest open transaction, which an account sees with VIEW SERVER STATE; without it, a distance to the
 * clock. A secondary replica may be behind by any time, so it must say by how much, or nothing is read.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { Dialect, Session } from '../dialect.js';
import { fenceText, UNSEEN_TRANSACTIONS_DELAY } from '../fence.js';

const utc = (local: string): string => `DATEADD(second, DATEDIFF(second, SYSDATETIME(), SYSUTCDATETIME()), ${local})`;
const text = (instant: string): string => `CONVERT(nvarchar(30), CAST(${instant} AS datetime2(6)), 126)`;

const READS_AND_WRITES = 1;
const DISTRIBUTED = 4;
/** A second less, since these stamps are rounded to a three-hundredth of one. */
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

export interface Standing {
  readonly seesTransactions: boolean;
  /** The database takes no changes: it is a replica, or was made read-only. */
  readonly readOnly: boolean;
}

export async function standingOf(session: Session): Promise<Standing> {
  const { rows } = await session.run({
    sql: `SELECT CONVERT(nvarchar(1), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')),
            CONVERT(nvarchar(20), DATABASEPROPERTYEX(DB_NAME(), 'Updateability'))`,
    bindings: [],
  });
  const [sees, updateability] = rows[0]!;
  return { seesTransactions: sees === '1', readOnly: updateability === 'READ_ONLY' };
}

export const mssqlFence: Dialect['fence'] = async (session, cursor) => {
  const ask = async (sql: string): Promise<string | null | undefined> =>
    (await session.run({ sql, bindings: [] })).rows[0]?.[0];
  const { seesTransactions, readOnly } = await standingOf(session);
  if (cursor.databaseType === 'rowversion') {
    if (readOnly) throw behind('a rowversion is only fenced where it is written');
    return (await ask(ROWVERSION_SQL))!.toLowerCase().replace('0x', '\\x');
  }
  if (readOnly && !seesTransactions) throw behind('its account may not see how far it has come');
  const instant = readOnly
    ? ((await ask(REPLICA_SQL)) ?? (await ask(UNSEEN_SQL)))
    : await ask(seesTransactions ? SEEN_SQL : UNSEEN_SQL);
  return fenceText(`${instant}Z`, cursor, { digits: digitsOf(cursor.databaseType), utcSuffix: '+00' });
};

const behind = (why: string): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `source: the database is read-only, perhaps a replica that is behind, and ${why}; read from the primary, or GRANT VIEW SERVER STATE`,
  );

/** Digits of a second that the type keeps, cut so that a value of the type is not past the fence. */
function digitsOf(databaseType: string): number {
  if (databaseType === 'datetime') return 3;
  return Math.min(6, Number(/\((\d)\)/.exec(databaseType)?.[1] ?? 0));
}
