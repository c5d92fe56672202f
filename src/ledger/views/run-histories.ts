/** What the ledger knows of runs over time: for the report of a run, and for the trend of a sync. */
import type { Knex } from 'knex';
import { NO_COUNTS, addCounts, type DeadLetterCount } from '../../domain/run/run.js';
import { partitionLabel, type PartitionBounds } from '../../domain/run/partition-label.js';
import type {
  EarlierRun,
  MappingHistory,
  PartitionHistory,
  RequestsOfPeriod,
  RunCause,
  RunHistory,
  RunPeriod,
  SyncDay,
} from '../../domain/run/run-history.js';
import type { PartitionKind } from '../runs/resume-point.js';
import { periodOf, shownPeriod } from '../runs/periods.js';
import type { RunRow } from '../runs/runs.js';
import { inTransaction } from '../database/statements.js';
import { openCounts } from './counts.js';

export interface RunHistories {
  /** undefined if the ledger has no such run. */
  of(runId: string): Promise<RunHistory | undefined>;
  /**
   * The last days of these syncs, or of all, today included; the oldest first. Days on which no run ended are left out. Reads
   * one row for each sync and day, however many runs there were.
   */
  days(syncs: readonly string[] | undefined, days: number): Promise<readonly SyncDay[]>;
}

/** How many runs a run is compared with, and among how many before it they are looked for. */
const COMPARED = 10;
const LOOKED_THROUGH = 2000;
/** How many of the slowest partitions are named. */
const SLOWEST = 10;

/** The columns of counts and times, summed; node-postgres gives bigint as text, so they are cast: exact up to 2^53. */
const COUNTS = (p: string): string =>
  ['read', 'accepted', 'unchanged', 'waiting', 'dead_lettered AS "deadLettered"']
    .map((column) => column.split(' AS '))
    .map(([column, name = column]) => `coalesce(sum(${p}.${column}), 0)::float8 AS ${name}`)
    .join(', ');
const TIMES = (p: string): string =>
  ['reading', 'sending', 'ledger'].map((part) => `coalesce(sum(${p}.${part}_ms), 0)::float8 AS "${part}Ms"`).join(', ');
const PERIOD = periodOf('p.begins_at', 'CAST(:period AS int)');

export function openRunHistories(knex: Knex): RunHistories {
  return {
    of: (runId) =>
      // One state of the ledger: otherwise the periods of a run that goes on would not add up to its counts.
      inTransaction(knex, async (trx) => {
        await trx.raw('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        const run = await trx('runs')
          .where({ id: runId })
          .first<(RunRow & { now: Date }) | undefined>('*', trx.raw('now() AS now'));
        return run === undefined ? undefined : historyOf(trx, run);
      }),
    async days(syncs, days) {
      const { rows } = await knex.raw<{ rows: (SyncDay & SyncDay['runs'])[] }>(
        `SELECT sync, day::text, complete, complete_with_dead_letters, incomplete, failed, read::float8, accepted::float8,
           unchanged::float8, waiting::float8, dead_lettered::float8 AS "deadLettered"
         FROM sync_days
         WHERE day > (now() AT TIME ZONE 'UTC')::date - CAST(:days AS int)
           AND (CAST(:syncs AS text[]) IS NULL OR sync = ANY (CAST(:syncs AS text[])))
         ORDER BY sync, day`,
        { days, syncs: syncs === undefined ? null : [...syncs] },
      );
      return rows.map(({ complete, complete_with_dead_letters, incomplete, failed, ...day }) => ({
        ...day,
        runs: { complete, complete_with_dead_letters, incomplete, failed },
      }));
    },
  };
}

async function historyOf(trx: Knex, run: RunRow & { readonly now: Date }): Promise<RunHistory> {
  const lasted = ((run.ended_at ?? run.now).getTime() - run.started_at.getTime()) / 1000;
  const asked = { run: run.id, period: shownPeriod(lasted) };
  const ask = async <Row>(sql: string): Promise<Row[]> => (await trx.raw<{ rows: Row[] }>(sql, asked)).rows;
  const mappings = await mappingsOf(run, ask);
  return {
    version: 1,
    run: run.id,
    sync: run.sync,
    kind: run.kind,
    mode: run.mode,
    trigger: run.trigger,
    startedBy: run.started_by,
    filesVersion: run.mapping_version,
    startedAt: run.started_at.toISOString(),
    endedAt: run.ended_at?.toISOString() ?? null,
    outcome: run.outcome ?? 'running',
    failure: run.failure_code === null ? null : { code: run.failure_code, message: run.failure_message ?? '' },
    asOf: run.now.toISOString(),
    total: run.report?.total ?? mappings.reduce(addCounts, NO_COUNTS),
    mappings,
    periodSeconds: asked.period,
    periods: (await ask<Timed<RunPeriod>>(PERIODS_OF_RUN)).map(withIsoTime),
    requests: (await ask<Timed<RequestsOfPeriod>>(REQUESTS_OF_RUN)).map(withIsoTime),
    causes: await causesOf(trx, run),
    slowest: (await ask<SlowPartition>(SLOWEST_PARTITIONS)).map(labelled),
    before: (await earlierRuns(trx, run)).map(({ startedAt, ...earlier }) => ({
      ...earlier,
      startedAt: startedAt.toISOString(),
    })),
    report: run.report,
  };
}

type Timed<T extends { readonly beginsAt: string }> = Omit<T, 'beginsAt'> & { readonly beginsAt: Date };
const withIsoTime = <T extends { readonly beginsAt: Date }>({ beginsAt, ...rest }: T) => ({
  ...rest,
  beginsAt: beginsAt.toISOString(),
});

/** The run's periods, and the partition and mapping of each. Small tenants are counted when their rows are read in order. */
const IN_RUN = 'partitions q JOIN mappings m ON m.id = q.mapping_id';

const PERIODS_OF_RUN = `
  SELECT m.name AS mapping, ${PERIOD} AS "beginsAt", ${COUNTS('p')}, ${TIMES('p')}
  FROM ${IN_RUN} JOIN partition_periods p ON p.partition_id = q.id WHERE q.run_id = :run
  GROUP BY 1, 2 ORDER BY 2, 1`;

const REQUESTS_OF_RUN = `
  SELECT ${PERIOD} AS "beginsAt", operation, status, sum(requests)::float8 AS requests, sum(ms)::float8 AS ms
  FROM partitions q JOIN partition_requests p ON p.partition_id = q.id WHERE q.run_id = :run
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

const MAPPINGS_OF_RUN = `
  SELECT m.name AS mapping, ${COUNTS('p')}, ${TIMES('p')},
    coalesce(extract(epoch FROM max(q.updated_at) - min(q.started_at)), 0)::float8 AS seconds
  FROM ${IN_RUN} LEFT JOIN partition_periods p ON p.partition_id = q.id WHERE q.run_id = :run
  GROUP BY m.id, m.name ORDER BY min(q.id)`;

/** By their report, once retention has removed the partitions. */
async function mappingsOf(run: RunRow, ask: <Row>(sql: string) => Promise<Row[]>): Promise<readonly MappingHistory[]> {
  const mappings = await ask<MappingHistory>(MAPPINGS_OF_RUN);
  if (mappings.length > 0 || run.report === null) return mappings;
  return run.report.mappings.map(({ undelivered: _, ...mapping }) => ({
    ...mapping,
    readingMs: 0,
    sendingMs: 0,
    ledgerMs: 0,
  }));
}

interface SlowPartition extends PartitionHistory, PartitionBounds {
  readonly kind: PartitionKind;
}

const SLOWEST_PARTITIONS = `
  SELECT m.name AS mapping, q.kind, q.cursor_from AS "cursorFrom", q.cursor_before AS "cursorBefore", q.after_key AS "afterKey",
    q.through_key AS "throughKey", q.external_ids AS "externalIds", coalesce(sum(p.read), 0)::float8 AS read, ${TIMES('p')},
    extract(epoch FROM q.updated_at - q.started_at)::float8 AS seconds
  FROM (SELECT * FROM partitions WHERE run_id = :run AND updated_at > started_at
        ORDER BY updated_at - started_at DESC, id LIMIT ${SLOWEST}) q
  JOIN mappings m ON m.id = q.mapping_id LEFT JOIN partition_periods p ON p.partition_id = q.id
  GROUP BY q.id, m.name, q.kind, q.cursor_from, q.cursor_before, q.after_key, q.through_key, q.external_ids, q.updated_at,
    q.started_at
  ORDER BY seconds DESC, q.id`;

/** What partitions of a kind read that are not described by their bounds. */
const KINDS: Readonly<Partial<Record<PartitionKind, string>>> = {
  dead_letters: 'rows of dead letters',
  small_tenants: 'rows of small tenants',
  by_key: 'rows read again, and parents',
  removals: 'records of vanished rows',
};

function labelled({ kind, mapping, read, seconds, readingMs, sendingMs, ledgerMs, ...bounds }: SlowPartition) {
  const rows = KINDS[kind] ?? partitionLabel(bounds);
  const label = kind === 'first_pass' && rows !== null ? `${rows}, first pass` : rows;
  return { mapping, label, read, seconds, readingMs, sendingMs, ledgerMs };
}

/** The causes that the run has reported, or has now if it goes on, with what the ledger still has of them. */
async function causesOf(trx: Knex, run: RunRow): Promise<RunCause[]> {
  const causes: readonly DeadLetterCount[] =
    run.report?.deadLetters ?? (await openCounts(trx).deadLetterCounts(run.id));
  if (causes.length === 0) return [];
  const { rows } = await trx.raw<{ rows: RunCause[] }>(
    `SELECT m.name AS mapping, code, pointer, rule, count(*)::float8 AS open, min(reason) AS reason, min(shape) AS shape
     FROM dead_letters d JOIN mappings m ON m.id = d.mapping_id WHERE d.run_id = ? GROUP BY 1, 2, 3, 4`,
    [run.id],
  );
  const keyOf = ({ mapping, code, pointer, rule }: DeadLetterCount): string =>
    JSON.stringify([mapping, code, pointer, rule]);
  const open = new Map(rows.map((row) => [keyOf(row), row]));
  return causes.map((cause) => {
    const now = open.get(keyOf(cause));
    return { ...cause, open: now?.open ?? 0, reason: now?.reason ?? null, shape: now?.shape ?? null };
  });
}

/** The counts of a run that failed are those of its partitions, as it has no report. */
async function earlierRuns(
  trx: Knex,
  { id, sync, kind, mode }: RunRow,
): Promise<(Omit<EarlierRun, 'startedAt'> & { readonly startedAt: Date })[]> {
  const { rows } = await trx.raw<{ rows: (Omit<EarlierRun, 'startedAt'> & { startedAt: Date })[] }>(
    `SELECT r.id AS run, r.started_at AS "startedAt", extract(epoch FROM r.ended_at - r.started_at)::float8 AS seconds, r.outcome,
       ${['read', 'accepted', 'unchanged', 'waiting', 'deadLettered']
         .map((name) => `coalesce((r.report->'total'->>'${name}')::float8, c."${name}") AS "${name}"`)
         .join(', ')}
     FROM (SELECT * FROM (SELECT * FROM runs WHERE sync = :sync AND id < :id ORDER BY id DESC LIMIT ${LOOKED_THROUGH}) latest
           WHERE kind = :kind AND mode = :mode AND outcome IS NOT NULL AND failure_code IS DISTINCT FROM 'run_in_progress'
           ORDER BY id DESC LIMIT ${COMPARED}) r
     CROSS JOIN LATERAL (
       SELECT ${COUNTS('p')} FROM partitions q JOIN partition_periods p ON p.partition_id = q.id
       WHERE q.run_id = r.id AND r.report IS NULL) c
     ORDER BY r.id DESC`,
    { id, sync, kind, mode },
  );
  return rows;
}
