/** Runs, and the lease that allows one run of a sync at a time, or one beside a run in mode `live`. */
import type { Knex } from 'knex';
import { foreignText } from '../../domain/values/foreign-text.js';
import type { EndedRunOutcome, RunInput, RunKind, RunReport, SkippedMapping } from '../../domain/run/run.js';
import type { RunTrigger } from '../../domain/run/search-attributes.js';
import type { RunFailure, RunStart, Stop } from '../../domain/run/work.js';
import type { SyncFiles } from '../../domain/sync/sync-files.js';
import { seconds } from '../../domain/timeouts.js';
import { inTransaction } from '../database/statements.js';
import type { Actor, NewAuditEntry } from '../../domain/run/audit.js';
import { writeAudit } from '../audit.js';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { IS_BAD, IS_GOOD, IS_NOT_REFUSED, IS_REFUSED } from './run-conditions.js';
import { keepFiles, noRun, removeUnusedFiles } from './sync-files.js';

export interface RunRow {
  readonly id: string;
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  readonly input: RunInput;
  readonly mapping_version: string;
  readonly workflow_id: string;
  readonly first_execution_run_id: string;
  readonly trigger: RunTrigger;
  /** The schedule's id, or the account and machine of a command; null if neither is known. */
  readonly started_by: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: EndedRunOutcome | null;
  /** Why it failed; null if it did not. */
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  /** null for a run that has not ended, and for one that failed. */
  readonly report: RunReport | null;
}

/** A run, as its workflow begins it. */
export interface NewRun {
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  readonly input: RunInput;
  readonly mappingVersion: string;
  /** The files that the run uses until it ends, without secrets; null for one that fails before it has any. */
  readonly files: SyncFiles | null;
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
  /** How many runs the workflow has ended before. */
  readonly runsBefore?: number;
  readonly start: RunStart;
}

/** The runs of a schedule. */
export interface ScheduleRuns {
  /** null if none has ended. */
  readonly lastOutcome: string | null;
  readonly lastEndedAt: Date | null;
  /** Failed or incomplete runs since the last one that was neither; up to `COUNT_BOUND`. */
  readonly runsSinceSuccess: number;
}

export interface Runs {
  /** The run of this workflow, which the first call inserts; who started it is then in the audit. */
  begin(run: NewRun): Promise<RunRow>;
  find(runId: string): Promise<RunRow | undefined>;
  /** Throws `unexpected` if the ledger has no such run: the program itself began it. */
  get(runId: string): Promise<RunRow>;
  /** Up to `limit` runs, newest first; of all syncs if none is named. */
  latest(sync: string | undefined, limit: number): Promise<readonly RunRow[]>;
  /** The newest run of the sync that was not refused: beside a run that works for days, many may be. */
  latestNotRefused(sync: string): Promise<RunRow | undefined>;
  /** How the runs that a schedule started have ended. */
  ofSchedule(scheduleId: string): Promise<ScheduleRuns>;
  /**
   * Takes the sync's lease for the run unless another one is in its way: a run in mode `live` and one that reads every row
   * are not in each other's. Returns the run that has the lease then, this one or another; undefined if this run has ended,
   * which must not get the lease: nobody would give it back.
   */
  takeLease(sync: string, runId: string): Promise<RunRow | undefined>;
  /** Forgets a run that has begun and done nothing, not even taken the lease. */
  withdraw(runId: string): Promise<void>;
  /** Runs of the sync, or of all, that have not ended, oldest first: they are running, or their workflow was terminated. */
  notEnded(sync: string | undefined): Promise<readonly RunRow[]>;
  /**
   * Records that a step of the sync's runs has failed with this code and is retried, after it has been failing for so many
   * milliseconds.
   */
  recordRetry(sync: string, code: string, failingFor: number): Promise<void>;
  /**
   * Ends the run and gives its lease back; who has stopped it, if anybody has, is then in the audit. A run that has ended
   * before keeps its outcome and failure.
   */
  end(runId: string, outcome: EndedRunOutcome, failure?: RunFailure, stop?: Stop | null): Promise<void>;
  /** Keeps the report of a run, for those who look at it later. */
  keepReport(runId: string, report: RunReport): Promise<void>;
  /** Notes which mappings the run leaves out, for whoever looks at it while it works. */
  noteSkipped(runId: string, skipped: readonly SkippedMapping[]): Promise<void>;
  /**
   * Whether records may still be as earlier files of the sync made them: a run has used other files than those of this
   * version, and none has read all rows with these.
   */
  hasRecordsOfEarlierFiles(sync: string, version: string): Promise<boolean>;
  /** Those of the ids of first workflow executions of which the ledger has a run. */
  recorded(firstExecutionRunIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Who started a run, for the audit. */
export const actorOf = ({ trigger, by }: RunStart): Actor => ({
  who: by,
  origin: trigger === 'cli' ? 'cli' : trigger === 'schedule' ? 'worker' : 'temporal',
});

/** The entry of the audit for a run that somebody started. Keys and ids of the input are left out. */
function startOf({ sync, kind, mode, input, start }: NewRun, run: string): NewAuditEntry {
  const { mappings, mapping, limit, externalIds, replay, from, to } = input;
  const chosen = mapping === undefined ? mappings : [mapping];
  return {
    sync,
    action: replay === undefined ? 'run_started' : 'dead_letters_replayed',
    actor: actorOf(start),
    subject: {
      run,
      kind,
      mode,
      ...(chosen !== undefined && { mappings: chosen }),
      ...(limit !== undefined && { limit }),
      ...(externalIds !== undefined && { records: externalIds.length }),
      ...((from !== undefined || to !== undefined) && { range: true }),
      ...(replay !== undefined && { filter: { ...replay } }),
    },
  };
}

/** The entry of the audit for a run that somebody stopped, with whatever client of Temporal. */
const endOf = (sync: string, run: string, { action, who, reason }: Stop): NewAuditEntry => ({
  sync,
  action,
  actor: { who, origin: 'temporal' },
  subject: { run, ...(reason !== null && { reason: foreignText(reason, LONGEST_REASON) }) },
});

const LONGEST_REASON = 200;
/** Most characters of a failure's message that are kept: enough for dozens of findings. */
const LONGEST_FAILURE = 4000;

export function openRuns(knex: Knex): Runs {
  const find = (runId: string) => knex('runs').where({ id: runId }).first<RunRow | undefined>();
  return {
    find,
    async noteSkipped(runId, skipped) {
      await knex('runs')
        .where({ id: runId })
        .update({ skipped: JSON.stringify(skipped) });
    },
    async get(runId) {
      return (await find(runId)) ?? noRun(runId);
    },
    async begin(run) {
      const ofWorkflow = { first_execution_run_id: run.firstExecutionRunId, runs_before: run.runsBefore ?? 0 };
      await inTransaction(knex, async (trx) => {
        const filesId = run.files === null ? null : await keepFiles(trx, run.sync, run.files);
        const [begun] = await trx('runs')
          .insert({
            sync: run.sync,
            kind: run.kind,
            mode: run.mode,
            input: JSON.stringify(run.input),
            mapping_version: run.mappingVersion,
            files_id: filesId,
            workflow_id: run.workflowId,
            ...ofWorkflow,
            trigger: run.start.trigger,
            started_by: run.start.by,
          })
          .onConflict(['first_execution_run_id', 'runs_before'])
          .ignore()
          .returning<{ id: string }[]>('id');
        const isStarted = run.start.trigger !== 'schedule' && ofWorkflow.runs_before === 0;
        if (begun !== undefined && isStarted) await writeAudit(trx, startOf(run, begun.id));
      });
      return knex('runs').where(ofWorkflow).first<RunRow>();
    },
    latest: (sync, limit) =>
      knex('runs')
        .where(sync === undefined ? {} : { sync })
        .orderBy('id', 'desc')
        .limit(limit)
        .select<RunRow[]>(),
    latestNotRefused: (sync) =>
      knex('runs').where({ sync }).whereRaw(IS_NOT_REFUSED).orderBy('id', 'desc').first<RunRow | undefined>(),
    takeLease: (sync, runId) =>
      inTransaction(knex, async (trx) => {
        // Of two that ask at the same time, one sees the other's lease; and a run that ends waits, and gives its own back.
        await trx('runs').where({ sync, ended_at: null }).orderBy('id').forNoKeyUpdate().select('id');
        await trx.raw(
          `INSERT INTO sync_leases (sync, is_live, run_id)
           SELECT sync, mode = 'live', id FROM runs r WHERE id = :runId AND ended_at IS NULL AND NOT EXISTS (${IN_THE_WAY})
           ON CONFLICT (sync, is_live) DO NOTHING`,
          { runId },
        );
        const { rows } = await trx.raw<{ rows: RunRow[] }>(
          `SELECT o.* FROM runs r CROSS JOIN LATERAL (
             SELECT o.* FROM runs o JOIN sync_leases l ON l.run_id = o.id WHERE o.id = r.id
             UNION ALL (${IN_THE_WAY})) o
           WHERE r.id = :runId AND r.ended_at IS NULL`,
          { runId },
        );
        return rows[0];
      }),
    async withdraw(runId) {
      await knex('runs').where({ id: runId }).delete();
    },
    async keepReport(runId, report) {
      await knex('runs')
        .where({ id: runId })
        .update({ report: JSON.stringify(report) });
    },
    async ofSchedule(scheduleId) {
      const { rows } = await knex.raw<{ rows: ScheduleRuns[] }>(
        `WITH ended AS (
           SELECT id, outcome, ended_at, failure_code FROM runs
           WHERE started_by = :id AND trigger = 'schedule' AND outcome IS NOT NULL)
         SELECT last.outcome AS "lastOutcome", last.ended_at AS "lastEndedAt",
           (SELECT count(*) FROM (SELECT FROM ended WHERE ${IS_BAD} AND id > coalesce(
              (SELECT max(id) FROM ended WHERE ${IS_GOOD}), 0) LIMIT ${COUNT_BOUND}) bad)::float8 AS "runsSinceSuccess"
         FROM (SELECT 1) one LEFT JOIN (SELECT * FROM ended ORDER BY id DESC LIMIT 1) last ON true`,
        { id: scheduleId },
      );
      return rows[0]!;
    },
    async recordRetry(sync, code, failingFor) {
      await knex.raw(
        `UPDATE runs SET last_retry_at = now(), retrying_code = :code,
           retrying_since = least(CASE WHEN ${IS_RETRYING} THEN retrying_since END, now() - :ms * interval '1 millisecond')
         WHERE sync = :sync AND ended_at IS NULL`,
        { sync, code, ms: failingFor },
      );
    },
    notEnded: (sync) =>
      knex('runs')
        .where({ ended_at: null, ...(sync !== undefined && { sync }) })
        .orderBy('id')
        .select<RunRow[]>(),
    async recorded(ids) {
      const rows = await knex('runs')
        .whereIn('first_execution_run_id', [...ids])
        .select('first_execution_run_id');
      return new Set(rows.map((row: Pick<RunRow, 'first_execution_run_id'>) => row.first_execution_run_id));
    },
    async hasRecordsOfEarlierFiles(sync, version) {
      const { rows } = await knex.raw<{ rows: { there: boolean }[] }>(HAS_RECORDS_OF_EARLIER_FILES, { sync, version });
      return rows[0]!.there;
    },
    async end(runId, outcome, failure, stop = null) {
      const why = failure && {
        failure_code: failure.code,
        failure_message: foreignText(failure.message.replaceAll('\n', '; '), LONGEST_FAILURE),
      };
      await inTransaction(knex, async (trx) => {
        // Claims and checkpoints hold the run's key (lockPartition). This lock waits for them, which the update would not.
        await trx('runs').where({ id: runId }).forUpdate().select('id');
        const [ended] = await trx('runs')
          .where({ id: runId, ended_at: null })
          .update({ ended_at: knex.fn.now(), outcome, ...why })
          .returning<{ sync: string }[]>('sync');
        if (ended !== undefined && outcome !== 'failed') await trx.raw(RECORD_READ, { run: runId });
        if (ended !== undefined) await trx.raw(COUNT_DAY, { run: runId });
        if (ended !== undefined && stop !== null) await writeAudit(trx, endOf(ended.sync, runId, stop));
        await trx('sync_leases').where({ run_id: runId }).delete();
        await trx('run_tenants').where({ run_id: runId }).delete();
        await removeUnusedFiles(trx, runId);
      });
    },
  };
}

/** The runs `o` that have a lease with which run `r` may not have its own. */
const IN_THE_WAY = `SELECT o.* FROM runs o JOIN sync_leases l ON l.run_id = o.id WHERE l.sync = r.sync AND o.id <> r.id
  AND NOT ('live' IN (o.mode, r.mode) AND (o.mode IN ('full', 'mirror') OR r.mode IN ('full', 'mirror')))`;

/** Records up to when the run has read those mappings that it has read to the end. */
const RECORD_READ = `
  UPDATE mappings m SET read_until = greatest(m.read_until, p.read_until)
  FROM (SELECT mapping_id, min(read_until) AS read_until FROM partitions WHERE run_id = :run AND kind IN ('planned', 'changed_rows')
        GROUP BY mapping_id HAVING bool_and(done AND read_until IS NOT NULL)) p
  WHERE m.id = p.mapping_id`;

/**
 * Whether a run with other files has ended since one with these began that has read all rows. Files may have been changed back.
 * One that has failed counts if it had sent records by then, as far as its batches or their counts are still there.
 *
 * A run has read all rows if it was asked for all mappings, skipped none, and read none of them only in part, from its position on,
 * or only the changed rows.
 * With changed rows beside it, what was left to load is all that runs with the same files had not read.
 */
const HAS_RECORDS_OF_EARLIER_FILES = `
  WITH ended AS (SELECT * FROM runs WHERE sync = :sync AND ended_at IS NOT NULL)
  SELECT EXISTS (SELECT FROM ended WHERE mapping_version <> :version AND (outcome <> 'failed' OR EXISTS (
    SELECT FROM partitions p WHERE p.run_id = ended.id AND (EXISTS (SELECT FROM batches b WHERE b.partition_id = p.id)
      OR EXISTS (SELECT FROM partition_counts c WHERE c.partition_id = p.id AND c.accepted > 0))
  )) AND ended_at > coalesce((
    SELECT max(started_at) FROM ended WHERE mapping_version = :version AND outcome <> 'failed' AND kind = 'sync' AND mode <> 'sample'
      AND input->'mappings' IS NULL AND coalesce(json_array_length(skipped), 0) = 0
      -- Old runs have no partitions any more.
      AND (mode IN ('full', 'mirror') OR EXISTS (SELECT FROM partitions p WHERE p.run_id = ended.id AND p.kind = 'planned'))
      AND NOT EXISTS (SELECT FROM partitions p WHERE p.run_id = ended.id AND (
        p.kind = 'planned' AND (p.cursor_from IS NOT NULL OR NOT p.done)
        OR p.kind = 'changed_rows' AND NOT coalesce((SELECT bool_and(l.done) FROM partitions l
          WHERE (l.run_id, l.mapping_id, l.kind) = (p.run_id, p.mapping_id, 'planned')), false)))
  ), '-infinity')) AS there`;

/** Adds the run that has ended to its day. A run that was refused says nothing about the sync. */
const COUNT_DAY = `
  INSERT INTO sync_days AS d (sync, day, complete, complete_with_dead_letters, incomplete, failed, read, accepted, unchanged,
    waiting, dead_lettered)
  SELECT sync, (ended_at AT TIME ZONE 'UTC')::date, (outcome = 'complete')::int, (outcome = 'complete_with_dead_letters')::int,
    (outcome = 'incomplete')::int, (outcome = 'failed')::int, c.*
  FROM runs CROSS JOIN LATERAL (
    SELECT coalesce(sum(read), 0), coalesce(sum(accepted), 0), coalesce(sum(unchanged), 0), coalesce(sum(p.waiting), 0),
      coalesce(sum(dead_lettered), 0)
    FROM partition_periods p WHERE partition_id IN (SELECT id FROM partitions WHERE run_id = :run)) c
  WHERE id = :run AND (${IS_REFUSED}) IS NOT TRUE
  ON CONFLICT (sync, day) DO UPDATE SET complete = d.complete + excluded.complete,
    complete_with_dead_letters = d.complete_with_dead_letters + excluded.complete_with_dead_letters,
    incomplete = d.incomplete + excluded.incomplete, failed = d.failed + excluded.failed,
    read = d.read + excluded.read, accepted = d.accepted + excluded.accepted, unchanged = d.unchanged + excluded.unchanged,
    waiting = d.waiting + excluded.waiting, dead_lettered = d.dead_lettered + excluded.dead_lettered`;

/** Whether a step of a run is failing: the next attempt comes within a minute, and may take as long to fail. */
export const IS_RETRYING = `coalesce(last_retry_at > now() - ${seconds('retryingEnds')} * interval '1 second', false)`;
