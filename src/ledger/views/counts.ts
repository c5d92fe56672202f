/** Questions about counts: the progress of a run, its report, and the status of mappings between runs. */
import type { Knex } from 'knex';
import type { MappingProgress } from '../../domain/run/progress.js';
import type { Counts, DeadLetterCount, Undelivered } from '../../domain/run/run.js';
import { TO_DELIVER } from '../changes/changed-rows.js';

export interface CountsView {
  /** One entry for each mapping of the run, in the order of planning; `seconds` from its first work to its latest. */
  progress(runId: string): Promise<readonly MappingProgress[]>;
  /**
   * What earlier runs left undelivered of the run's mappings and is not in this run's counts, by mapping. `wasRead`
   * is false for a mapping of which the run has only polled waiting records.
   */
  undelivered(runId: string): Promise<ReadonlyMap<string, Undelivered & { readonly wasRead: boolean }>>;
  /** What is not on the platform now of these mappings, whichever run has read it. */
  open(mappingIds: readonly number[]): Promise<OpenRecords>;
  /**
   * How many of the changed rows that the run was to deliver are still on the list, as nobody knew yet what becomes of the
   * record of a row that is gone. Without those that wait for a removal plan or for another run.
   */
  changedRowsLeft(runId: string): Promise<number>;
  /** The run's dead letters by cause, the hundred most frequent causes first. */
  deadLetterCounts(runId: string): Promise<readonly DeadLetterCount[]>;
  /**
   * What became of the rows of the dead letters that a replay selected, without fetched parents and without children
   * that were brought back. Only `gone` includes rows that were looked for as children before their own turn came.
   */
  replayed(runId: string): Promise<ReplayCounts>;
  /** Whether the platform has accepted records of the mapping in a run with this version of the files. */
  anyAccepted(mappingId: number, mappingVersion: string): Promise<boolean>;
  /** How far each mapping of the sync has been read, and what has become of its records. */
  statuses(sync: string): Promise<readonly MappingStatus[]>;
}

/** Records, or rows, without a final outcome, and those that cannot be delivered. */
export interface OpenRecords {
  readonly waiting: number;
  /** Rows that a change feed has named. */
  readonly changedRows: number;
  readonly deadLettered: number;
}

/** The counts of the rows that a replay read, and how many more rows are gone. */
export interface ReplayCounts extends Counts {
  readonly gone: number;
}

/** How far a mapping has been read, and how many of its records are in which state now. */
export interface MappingStatus {
  readonly mapping: string;
  /** The cursor of its position; null before the first incremental run. */
  readonly cursor: string | null;
  /** The moment up to which it has been read; null until a run has read it to the end. */
  readonly readUntil: Date | null;
  readonly accepted: number;
  readonly waiting: number;
  readonly deadLettered: number;
}

export function openCounts(knex: Knex): CountsView {
  return {
    async anyAccepted(mappingId, mappingVersion) {
      const { rows } = await knex.raw<{ rows: { any: boolean }[] }>(
        `SELECT EXISTS (
           SELECT FROM partition_counts c JOIN partitions p ON p.id = c.partition_id JOIN runs ON runs.id = p.run_id
           WHERE p.mapping_id = ? AND runs.mapping_version = ? AND c.accepted > 0) AS any`,
        [mappingId, mappingVersion],
      );
      return rows[0]!.any;
    },
    async progress(runId) {
      // node-postgres gives bigint as text, so sums are cast: exact up to 2^53 rows.
      const { rows } = await knex.raw<{ rows: MappingProgress[] }>(
        `SELECT m.name AS mapping,
           coalesce(sum(c.read), 0)::float8 AS read, coalesce(sum(c.accepted), 0)::float8 AS accepted,
           coalesce(sum(c.unchanged), 0)::float8 AS unchanged, coalesce(sum(c.waiting), 0)::float8 AS waiting,
           coalesce(sum(c.dead_lettered), 0)::float8 AS "deadLettered",
           coalesce((SELECT sum(records) FROM batches b WHERE b.run_id = :run AND b.mapping_id = m.id AND b.state = 'sent'), 0)::float8 AS "inFlight",
           coalesce(extract(epoch FROM max(p.updated_at) - min(p.started_at)), 0)::float8 AS seconds,
           -- A run in mode live has read all rows long before it has followed all changes.
           coalesce(bool_and(p.done) FILTER (WHERE p.kind <> 'changed_rows'
             OR (SELECT mode FROM runs WHERE id = :run) <> 'live'), false) AS done,
           (SELECT sum(expected_rows) FROM partitions e WHERE e.run_id = :run AND e.mapping_id = m.id)::float8 AS expected
         FROM partitions p JOIN mappings m ON m.id = p.mapping_id LEFT JOIN partition_counts c ON c.partition_id = p.id
         WHERE p.run_id = :run AND p.kind <> 'small_tenants' GROUP BY m.id, m.name ORDER BY min(p.id)`,
        { run: runId },
      );
      return rows;
    },
    async undelivered(runId) {
      const { rows } = await knex.raw<{ rows: (Undelivered & { mapping: string; wasRead: boolean })[] }>(
        `SELECT m.name AS mapping,
           EXISTS (SELECT FROM partitions p WHERE p.mapping_id = m.id AND p.run_id = :run
             AND p.kind IN ('planned', 'changed_rows', 'dead_letters')) AS "wasRead",
           (SELECT count(*) FROM waiting w JOIN partitions p ON p.id = w.partition_id
            WHERE w.mapping_id = m.id AND NOT (w.counted AND p.run_id = :run))::float8 AS waiting,
           greatest(0, (SELECT count(*) FROM dead_letters d WHERE d.mapping_id = m.id)
             - (SELECT coalesce(sum(c.dead_lettered), 0) FROM partition_counts c JOIN partitions p ON p.id = c.partition_id
                WHERE p.mapping_id = m.id AND p.run_id = :run))::float8 AS "deadLettered"
         FROM mappings m WHERE EXISTS (SELECT FROM partitions p WHERE p.mapping_id = m.id AND p.run_id = :run)`,
        { run: runId },
      );
      return new Map(rows.map(({ mapping, ...undelivered }) => [mapping, undelivered]));
    },
    async open(mappingIds) {
      const count = (table: string, condition = 'true'): string =>
        `(SELECT count(*) FROM ${table} t WHERE t.mapping_id = ANY (CAST(:ids AS int[])) AND ${condition})::float8`;
      const { rows } = await knex.raw<{ rows: OpenRecords[] }>(
        `SELECT ${count('waiting')} AS waiting, ${count('changed_rows', TO_DELIVER)} AS "changedRows",
           ${count('dead_letters')} AS "deadLettered"`,
        { ids: [...mappingIds] },
      );
      return rows[0]!;
    },
    async changedRowsLeft(runId) {
      const { rows } = await knex.raw<{ rows: { count: number }[] }>(
        `SELECT count(*)::float8 AS count FROM partitions p JOIN changed_rows c
           ON c.mapping_id = p.mapping_id AND c.seq <= CAST(p.through_key[1] AS bigint)
         WHERE p.run_id = ? AND p.kind = 'changed_rows' AND c.plan_id IS NULL AND ${TO_DELIVER}`,
        [runId],
      );
      return rows[0]!.count;
    },
    async deadLetterCounts(runId) {
      const { rows } = await knex.raw<{ rows: DeadLetterCount[] }>(
        `SELECT m.name AS mapping, code, pointer, rule, count(*)::int AS count
         FROM dead_letters d JOIN mappings m ON m.id = d.mapping_id WHERE d.run_id = ?
         GROUP BY 1, 2, 3, 4 ORDER BY count DESC, 1, 2, 3, 4 LIMIT 100`,
        [runId],
      );
      return rows;
    },
    async replayed(runId) {
      const { rows } = await knex.raw<{ rows: ReplayCounts[] }>(
        `SELECT coalesce(sum(c.read), 0)::float8 AS read, coalesce(sum(c.accepted), 0)::float8 AS accepted,
           coalesce(sum(c.unchanged), 0)::float8 AS unchanged, coalesce(sum(c.waiting), 0)::float8 AS waiting,
           coalesce(sum(c.dead_lettered), 0)::float8 AS "deadLettered",
           (SELECT coalesce(sum(rows_gone), 0) FROM partitions WHERE run_id = :run
            AND mapping_id IN (SELECT mapping_id FROM partitions WHERE run_id = :run AND kind = 'dead_letters'))::float8 AS gone
         FROM partitions p JOIN partition_counts c ON c.partition_id = p.id
         WHERE p.run_id = :run AND p.kind = 'dead_letters'`,
        { run: runId },
      );
      return rows[0]!;
    },
    async statuses(sync) {
      const { rows } = await knex.raw<{ rows: MappingStatus[] }>(
        `SELECT m.name AS mapping, p.cursor, m.read_until AS "readUntil",
           coalesce((SELECT sum(b.accepted) FROM record_blocks b WHERE b.mapping_id = m.id), 0)::float8 AS accepted,
           (SELECT count(*) FROM waiting w WHERE w.mapping_id = m.id)::float8 AS waiting,
           (SELECT count(*) FROM dead_letters d WHERE d.mapping_id = m.id)::float8 AS "deadLettered"
         FROM mappings m LEFT JOIN positions p ON p.mapping_id = m.id WHERE m.sync = ? ORDER BY m.id`,
        [sync],
      );
      return rows;
    },
  };
}
