/**
 * Doctor's checks of the partner's database: whether it can be reached and read, whether the account can only read, and
 * how far open transactions hold reading back, and how its change feeds stand.
 */
import type { ViewParts } from '../../composition/parts.js';
import { PartnerSyncError, ERROR_CATALOGUE } from '../../domain/errors.js';
import type { SourceServer, SourceTable } from '../../domain/source/source-catalog.js';
import type { Source } from '../../domain/source/source.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { readPlanOf } from '../../mapping/compile/read-plan.js';
import { momentOf } from '../../source/cursor-time.js';
import { openSource } from '../../source/open-source.js';
import { quantity } from '../../domain/values/quantity.js';
import { examineFeeds } from './examine-feeds.js';
import { clockDifference, FAR_APART, fail, ok, warn, type Examined } from './examination.js';

/**
 * All lines about the source. If it cannot be reached, the one line says why. Opens and closes its connections itself.
 */
export async function examineSource(parts: ViewParts, sync: SyncSpec): Promise<Examined[]> {
  const source = openSource(sync.source);
  try {
    const asked = Date.now();
    const server = await source.server();
    const answered = Date.now();
    const tables = await tablesOf(sync, source);
    return [
      ok(
        'source',
        `${server.product} ${server.version}, account ${server.account ?? '(none)'}, ${answered - asked} ms${server.standby ? ', a standby: it lags behind its primary' : ''}`,
      ),
      grants(server, tables),
      readsOnly(server, tables),
      clock(clockDifference(server.clock, asked, answered)),
      await lateness(sync, source, server),
      ...(await examineFeeds(parts, sync, source)),
    ];
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [fail('source', error.message, ERROR_CATALOGUE[error.code].remedy)];
  } finally {
    await source.close();
  }
}

/** The catalog's entries of the tables that mappings name. Queries are left out: what they read is not known. */
async function tablesOf(sync: SyncSpec, source: Source): Promise<readonly SourceTable[]> {
  const names = sync.mappings.flatMap(({ relation }) => ('table' in relation ? [relation.table] : []));
  return names.length === 0 ? [] : source.tables(names);
}

/** Whether every table can be read, with the GRANT that is missing. */
function grants({ account }: SourceServer, tables: readonly SourceTable[]): Examined {
  const closed = tables.filter((table) => !table.readable).map(({ table }) => table);
  return closed.length === 0
    ? ok('grants', `${quantity(tables.length, 'table')} can be read`)
    : fail(
        'grants',
        `${closed.join(', ')} cannot be read`,
        `GRANT SELECT ON ${closed.join(', ')} TO ${account ?? 'the account'}`,
      );
}

/**
 * A warning only: partner-sync never writes to the source, but an account that cannot write is the better guarantee.
 */
function readsOnly({ account }: SourceServer, tables: readonly SourceTable[]): Examined {
  const open = tables.filter((table) => table.writes.length > 0);
  return open.length === 0
    ? ok('reads only', `${account ?? 'the account'} cannot write to them`)
    : warn(
        'reads only',
        `${account ?? 'the account'} may ${open[0]!.writes.join(', ')} on ${open.map((t) => t.table).join(', ')}; partner-sync itself only reads`,
        'give partner-sync an account that can only read',
      );
}

/** Cursors are compared with the database's own clock only, so a difference harms no run. */
const clock = (seconds: number): Examined =>
  seconds <= FAR_APART
    ? ok('source clock', `differs from this machine's by ${seconds.toFixed(1)} s`)
    : warn(
        'source clock',
        `differs from this machine's by ${Math.round(seconds)} s; cursors follow the database's clock`,
        'synchronise both by NTP: times in reports are compared with times in rows',
      );

/**
 * How far the high watermark is behind the clock. Rows that are committed later than the overlap reaches back are found
 * by a full run only.
 */
async function lateness(sync: SyncSpec, source: Source, server: SourceServer): Promise<Examined> {
  const withCursor = sync.mappings.filter((m) => m.cursor !== null);
  const shortest = Math.min(...withCursor.map((m) => m.cursor!.overlap));
  if (withCursor.length === 0 || sync.mode !== 'incremental') return ok('lateness', 'no mapping reads by a cursor');
  if (!server.seesOpenTransactions)
    return warn(
      'lateness',
      `the account cannot see all open transactions of others: runs read up to 30 s behind the clock, and rows of a transaction that stays open for longer than that and the overlap (${shortest} s) are found by a full run only`,
      server.grantForOpenTransactions ?? 'schedule a full run; docs/sources.md says what hides transactions',
    );
  const highWatermarks: number[] = [];
  for (const mapping of withCursor) {
    const highWatermark = await source.highWatermark(readPlanOf(mapping, sync.tenant));
    const moment = isDate(highWatermark) ? null : momentOf(highWatermark, mapping.cursor!.zone);
    if (moment !== null) highWatermarks.push(moment.getTime());
  }
  if (highWatermarks.length === 0) return ok('lateness', "the cursors are dates; today's rows are read tomorrow");
  const behind = (Date.parse(server.clock) - Math.min(...highWatermarks)) / 1000;
  return behind <= shortest
    ? ok('lateness', `reading is ${Math.max(0, behind).toFixed(1)} s behind; the shortest overlap is ${shortest} s`)
    : warn(
        'lateness',
        `a transaction has been open for ${Math.round(behind)} s, longer than the shortest overlap (${shortest} s): until it ends, each run reads all rows again that have changed since it began`,
        'find it in the database and end it, or wait',
      );
}

const isDate = (highWatermark: string): boolean => /^.{10}$/.test(highWatermark);
