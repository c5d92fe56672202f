/** The partner's database: reachable, readable, only readable, and how late its commits may be. */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError, ERROR_CATALOGUE } from '../../domain/errors.js';
import type { SourceServer, SourceTable } from '../../domain/source-catalog.js';
import type { Source } from '../../domain/source.js';
import type { SyncSpec } from '../../domain/sync.js';
import { readPlanOf } from '../../mapping/read-plan.js';
import { openSource } from '../../source/open-source.js';
import { clockDifference, FAR_APART, fail, ok, warn, type Examined } from './examination.js';

export async function examineSource(sync: SyncSpec): Promise<Examined[]> {
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
    ];
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [fail('source', error.message, ERROR_CATALOGUE[error.code].remedy)];
  } finally {
    await source.close();
  }
}

async function tablesOf(sync: SyncSpec, source: Source): Promise<readonly SourceTable[]> {
  const names = sync.mappings.flatMap(({ relation }) => ('table' in relation ? [relation.table] : []));
  return names.length === 0 ? [] : source.tables(names);
}

function grants({ account }: SourceServer, tables: readonly SourceTable[]): Examined {
  const closed = tables.filter((table) => !table.readable).map(({ table }) => table);
  return closed.length === 0
    ? ok('grants', `${tables.length} tables can be read`)
    : fail(
        'grants',
        `${closed.join(', ')} cannot be read`,
        `GRANT SELECT ON ${closed.join(', ')} TO ${account ?? 'the account'}`,
      );
}

function readsOnly({ account }: SourceServer, tables: readonly SourceTable[]): Examined {
  const open = tables.filter((table) => table.writes.length > 0);
  return open.length === 0
    ? ok('reads only', `${account ?? 'the account'} cannot write to them`)
    : warn(
        'reads only',
        `${account ?? 'the account'} may ${open[0]!.writes.join(', ')} on ${open.map((t) => t.table).join(', ')}; partner-sync's sessions do not`,
        'give partner-sync an account that can only read',
      );
}

const clock = (seconds: number): Examined =>
  seconds <= FAR_APART
    ? ok('source clock', `${seconds.toFixed(1)} s apart from this machine's`)
    : warn(
        'source clock',
        `${Math.round(seconds)} s apart from this machine's; cursors keep to the database's clock`,
        'set both by NTP: times in reports are compared with times in rows',
      );

/** What is committed later than the overlap reaches back is left to a full run. */
async function lateness(sync: SyncSpec, source: Source, server: SourceServer): Promise<Examined> {
  const withCursor = sync.mappings.filter((m) => m.cursor !== null);
  const shortest = Math.min(...withCursor.map((m) => m.cursor!.overlap));
  if (withCursor.length === 0 || sync.mode !== 'incremental') return ok('lateness', 'no mapping reads by a cursor');
  if (!server.seesOpenTransactions)
    return warn(
      'lateness',
      `the account does not see the open transactions of others: runs read up to 30 s behind the clock, and what stays open for longer than that and the overlap (${shortest} s) is left to a full run`,
      server.grantForOpenTransactions ?? 'schedule a full run',
    );
  const fences: number[] = [];
  for (const mapping of withCursor) {
    const moment = momentOf(await source.fence(readPlanOf(mapping, sync.tenant)), mapping.cursor!.zone ?? 'UTC');
    if (moment !== null) fences.push(moment);
  }
  if (fences.length === 0) return ok('lateness', 'the cursors are days; what is of today is read tomorrow');
  const behind = (Date.parse(server.clock) - Math.min(...fences)) / 1000;
  return behind <= shortest
    ? ok('lateness', `reading is ${Math.max(0, behind).toFixed(1)} s behind; the shortest overlap is ${shortest} s`)
    : warn(
        'lateness',
        `a transaction has been open for ${Math.round(behind)} s, longer than the shortest overlap (${shortest} s): rows wait until it ends`,
        'find it in the database and end it, or wait',
      );
}

/** Milliseconds of a fence: local time of `zone`, or UTC where anything follows the time; null for a day. */
function momentOf(fence: string, zone: string): number | null {
  const [, local, utc] = /^(.{10}[ T][\d:.]+)(.*)$/.exec(fence) ?? [];
  if (local === undefined) return null;
  return Temporal.PlainDateTime.from(local).toZonedDateTime(utc === '' ? zone : 'UTC').epochMilliseconds;
}
