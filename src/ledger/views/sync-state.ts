/** The state of a sync over all of its runs, from which its health is judged. */
import type { Knex } from 'knex';
import type { JudgedState } from '../../domain/sync-health.js';
import type { RunFailure } from '../../domain/work.js';
import { IS_ON_HOLD } from '../runs/guards.js';
import { IS_IN_TROUBLE } from '../runs/runs.js';
import { COUNT_BOUND, PLATFORM_BUSY } from './gauges.js';

/** What is known of a sync. Times are the ledger's clock; null where there is nothing yet. */
export interface SyncState extends JudgedState {
  readonly sync: string;
  /** The latest run that has failed or ended incomplete since the last success. */
  readonly latest: {
    readonly run: string;
    readonly workflowId: string;
    readonly outcome: string;
    readonly failure: RunFailure | null;
  } | null;
}

/** Looks up syncs. */
export interface SyncStates {
  /** The syncs that have run, or the one named; by name. */
  of(sync: string | undefined): Promise<readonly SyncState[]>;
}

export function openSyncStates(knex: Knex): SyncStates {
  return {
    async of(sync) {
      const { rows } = await knex.raw<{ rows: Row[] }>(
        // From each sync to the next, and each part by an index: a sync that runs each minute has half a million runs.
        `WITH RECURSIVE names AS (
           SELECT CAST(coalesce(:sync, (SELECT min(sync) FROM runs)) AS text) AS sync
           UNION ALL
           SELECT (SELECT min(sync) FROM runs WHERE sync > n.sync) FROM names n
           WHERE CAST(:sync AS text) IS NULL AND n.sync IS NOT NULL
         ), syncs AS (
           SELECT n.sync, f.started_at AS first_run_at,
             -- A backfill or a sample says nothing about the rows that it was not asked for.
             (SELECT max(ended_at) FROM runs WHERE sync = n.sync AND ${IS_SYNC} AND ${IS_SUCCESS}) AS last_success_at
           FROM names n, LATERAL (SELECT started_at FROM runs WHERE sync = n.sync ORDER BY id LIMIT 1) f
         ), bad AS (
           SELECT r.*, b.streak FROM syncs s,
             LATERAL (SELECT max(id) AS id, count(*) AS streak FROM (
               SELECT id FROM runs WHERE sync = s.sync AND ${IS_BAD} AND (s.last_success_at IS NULL OR ended_at > s.last_success_at)
               ORDER BY ended_at DESC LIMIT ${COUNT_BOUND}) latest) b
             JOIN runs r ON r.id = b.id
         ), usual AS (
           SELECT s.sync, u.* FROM syncs s, LATERAL (
             SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY gap) AS gap,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY duration) AS duration
             FROM (
               SELECT extract(epoch FROM started_at - lag(started_at) OVER (ORDER BY started_at)) AS gap,
                 extract(epoch FROM ended_at - started_at) AS duration,
                 row_number() OVER (ORDER BY started_at DESC) AS no
               -- One more than 20 starts, since a gap is between two.
               FROM (SELECT started_at, ended_at FROM runs WHERE sync = s.sync AND ${IS_SCHEDULED}
                     ORDER BY started_at DESC LIMIT 21) latest) scheduled
             WHERE no <= 20 HAVING count(gap) >= 2) u
         ), undelivered AS (
           SELECT m.sync, sum(w.records) AS waiting, min(w.since) AS since, sum(d.rows) AS dead_letters
           FROM mappings m,
             LATERAL (SELECT count(*) AS records, min(since) AS since FROM waiting WHERE mapping_id = m.id) w,
             LATERAL (SELECT count(*) AS rows FROM dead_letters WHERE mapping_id = m.id) d
           WHERE CAST(:sync AS text) IS NULL OR m.sync = :sync
           GROUP BY m.sync
         )
         SELECT s.sync, now() AS now, s.first_run_at AS "firstRunAt", s.last_success_at AS "lastSuccessAt",
           coalesce(b.streak, 0)::float8 AS streak,
           CASE WHEN b.id IS NOT NULL THEN json_build_object('run', b.id::text, 'workflowId', b.workflow_id, 'outcome', b.outcome,
             'failure', CASE WHEN b.failure_code IS NOT NULL THEN json_build_object('code', b.failure_code, 'message', b.failure_message) END)
           END AS latest,
           u.gap::float8 AS "usualGap", u.duration::float8 AS "usualDuration",
           coalesce(n.waiting, 0)::float8 AS waiting, n.since AS "oldestWaitingAt", coalesce(n.dead_letters, 0)::float8 AS "deadLetters",
           p.mapping AS position_mapping, p.moved_at AS position_moved_at,
           (SELECT count(*) FROM removal_plans h JOIN mappings m ON m.id = h.mapping_id
            WHERE m.sync = s.sync AND h.state IN ('awaiting_approval', 'empty'))::float8 AS "plansAwaitingApproval",
           (SELECT count(*) FROM guards g JOIN runs ON runs.id = g.run_id WHERE runs.sync = s.sync AND ${IS_ON_HOLD})::float8 AS "mappingsOnHold",
           t.code AS trouble_code, t.since AS trouble_since,
           (SELECT min(moved_at) FROM (
              SELECT greatest(r.started_at, max(p.started_at), max(p.updated_at)) AS moved_at
              FROM runs r LEFT JOIN partitions p ON p.run_id = r.id
              WHERE r.sync = s.sync AND r.ended_at IS NULL
                -- A guarded run waits for the approval of its plan, which is told as such.
                AND NOT EXISTS (SELECT FROM removal_plans h JOIN guards USING (run_id, mapping_id)
                                WHERE h.run_id = r.id AND h.state = 'awaiting_approval')
              GROUP BY r.id) working) AS "unmovedSince"
         FROM syncs s
           LEFT JOIN bad b ON b.sync = s.sync
           LEFT JOIN usual u ON u.sync = s.sync
           LEFT JOIN undelivered n ON n.sync = s.sync
           LEFT JOIN LATERAL (SELECT m.name AS mapping, p.moved_at FROM positions p JOIN mappings m ON m.id = p.mapping_id
                              WHERE m.sync = s.sync ORDER BY p.moved_at LIMIT 1) p ON true
           LEFT JOIN LATERAL (
             SELECT code, since FROM (
               SELECT trouble_code AS code, trouble_since AS since FROM runs
               WHERE sync = s.sync AND ended_at IS NULL AND ${IS_IN_TROUBLE}
               UNION ALL
               ${PLATFORM_BUSY}
             ) troubles ORDER BY since LIMIT 1) t ON true
         ORDER BY s.sync`,
        { sync: sync ?? null },
      );
      return rows.map(
        ({
          position_mapping: mapping,
          position_moved_at: movedAt,
          trouble_code: code,
          trouble_since: since,
          ...state
        }) => ({
          ...state,
          oldestPosition: mapping === null || movedAt === null ? null : { mapping, movedAt },
          trouble: code === null || since === null ? null : { code, since },
        }),
      );
    },
  };
}

/** Runs that keep the platform in step: neither backfills nor samples. The indexes of runs have these very conditions. */
const IS_SYNC = `kind = 'sync' AND mode <> 'sample'`;
const IS_SUCCESS = `outcome IN ('complete', 'complete_with_dead_letters')`;
const IS_BAD = `${IS_SYNC} AND outcome IN ('failed', 'incomplete') AND failure_code IS DISTINCT FROM 'run_in_progress'`;
const IS_SCHEDULED = `trigger = 'schedule' AND ended_at IS NOT NULL AND failure_code IS DISTINCT FROM 'run_in_progress'`;

type Row = Omit<SyncState, 'oldestPosition' | 'trouble'> & {
  position_mapping: string | null;
  position_moved_at: Date | null;
  trouble_code: string | null;
  trouble_since: Date | null;
};
