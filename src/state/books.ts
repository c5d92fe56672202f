/** What the books say of a run: progress while it goes on, the report at its end. */
import type { Knex } from 'knex';
import type { DeadLetterGroup, MappingProgress, Owed } from '../domain/run.js';

export interface BooksView {
  /** One row a mapping of the run, in the order of planning. */
  progress(runId: string): Promise<readonly MappingProgress[]>;
  /**
   * What the run's mappings have not delivered and its books do not count, by mapping. `asked`: whether the run was to read
   * the mapping; otherwise it has only looked after its waiting records.
   */
  owed(runId: string): Promise<ReadonlyMap<string, Owed & { readonly asked: boolean }>>;
  /** The run's dead letters, grouped by cause, most frequent first. */
  deadLetterGroups(runId: string): Promise<readonly DeadLetterGroup[]>;
  /** What waits now, by sync and mapping. */
  positions(sync: string): Promise<readonly MappingStanding[]>;
}

/** Where a mapping stands between runs. */
export interface MappingStanding {
  readonly mapping: string;
  readonly cursor: string | null;
  readonly accepted: number;
  readonly waiting: number;
  readonly deadLettered: number;
}

export function openBooks(knex: Knex): BooksView {
  return {
    async progress(runId) {
      // node-postgres gives bigint as text, so sums are cast: exact up to 2^53 rows.
      const { rows } = await knex.raw<{ rows: MappingProgress[] }>(
        `SELECT m.name AS mapping,
           coalesce(sum(b.read), 0)::float8 AS read, coalesce(sum(b.accepted), 0)::float8 AS accepted,
           coalesce(sum(b.unchanged), 0)::float8 AS unchanged, coalesce(sum(b.waiting), 0)::float8 AS waiting,
           coalesce(sum(b.dead_lettered), 0)::float8 AS "deadLettered",
           coalesce((SELECT sum(records) FROM batches o WHERE o.run_id = :run AND o.mapping_id = m.id AND o.state = 'sent'), 0)::float8 AS sent,
           coalesce(extract(epoch FROM max(r.updated_at) - min(r.started_at)), 0)::float8 AS seconds,
           bool_and(r.done) AS done
         FROM ranges r JOIN mappings m ON m.id = r.mapping_id LEFT JOIN books b ON b.range_id = r.id
         WHERE r.run_id = :run GROUP BY m.id, m.name ORDER BY min(r.id)`,
        { run: runId },
      );
      return rows;
    },
    async owed(runId) {
      const { rows } = await knex.raw<{ rows: (Owed & { mapping: string; asked: boolean })[] }>(
        `SELECT m.name AS mapping,
           EXISTS (SELECT FROM ranges r WHERE r.mapping_id = m.id AND r.run_id = :run AND r.no >= 0) AS asked,
           (SELECT count(*) FROM waiting w JOIN ranges r ON r.id = w.range_id
            WHERE w.mapping_id = m.id AND NOT (w.booked AND r.run_id = :run))::float8 AS waiting,
           greatest(0, (SELECT count(*) FROM dead_letters d WHERE d.mapping_id = m.id)
             - (SELECT coalesce(sum(b.dead_lettered), 0) FROM books b JOIN ranges r ON r.id = b.range_id
                WHERE r.mapping_id = m.id AND r.run_id = :run))::float8 AS "deadLettered"
         FROM mappings m WHERE EXISTS (SELECT FROM ranges r WHERE r.mapping_id = m.id AND r.run_id = :run)`,
        { run: runId },
      );
      return new Map(rows.map(({ mapping, ...owed }) => [mapping, owed]));
    },
    async deadLetterGroups(runId) {
      const { rows } = await knex.raw<{ rows: DeadLetterGroup[] }>(
        `SELECT m.name AS mapping, code, pointer, rule, count(*)::int AS count
         FROM dead_letters d JOIN mappings m ON m.id = d.mapping_id WHERE d.run_id = ?
         GROUP BY 1, 2, 3, 4 ORDER BY count DESC, 1, 2, 3, 4 LIMIT 100`,
        [runId],
      );
      return rows;
    },
    async positions(sync) {
      const { rows } = await knex.raw<{ rows: MappingStanding[] }>(
        `SELECT m.name AS mapping, p.cursor,
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
