/** The state of a sync over all of its runs, from which its health is judged. */
import type { Knex } from 'knex';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import type { EvaluatedState } from '../../domain/monitoring/sync-health.js';
import { ABANDONED, type RunFailure } from '../../domain/run/work.js';
import { HOLDS_MAPPING } from './holds-mapping.js';
import { IS_BAD, IS_GOOD, IS_REFUSED, IS_SCHEDULED, IS_SYNC } from '../runs/run-conditions.js';
import { IS_RETRYING } from '../runs/runs.js';
import { countToBound, WAITS_FOR_RETRY_AFTER } from './gauges.js';

/** What is known of a sync. Times are the ledger's clock; null where there is nothing yet. */
export interface SyncState extends EvaluatedState {
  readonly sync: string;
  /** The latest run that has failed or ended incomplete since the last success. */
  readonly latest: {
    readonly run: string;
    readonly workflowId: string;
    readonly outcome: string;
    readonly failure: RunFailure | null;
  } | null;
  /** Runs since the last success that were refused because another one was working; up to `COUNT_BOUND`. */
  readonly refused: number;
  /** Schedules that have not started all of their runs. */
  readonly notStarted: readonly NotStarted[];
}

/** Runs that a schedule has not started since it was created. */
export interface NotStarted {
  readonly name: string;
  /** Because one was active, as many as Temporal has counted. */
  readonly skipped: number;
  /** Because of outages that were longer than its `catchupWindow`. */
  readonly missed: number;
  /** When there was last seen to be another one. */
  readonly lastAt: Date;
}

/** Looks up syncs. */
export interface SyncStates {
  /**
   * The syncs that have run or are expected to, or the one named; by name. Of the runs that have not ended, those in
   * `abandoned` count as ended.
   */
  of(sync: string | undefined, abandoned?: readonly string[]): Promise<readonly SyncState[]>;
}

export function openSyncStates(knex: Knex): SyncStates {
  return {
    async of(sync, abandoned = []) {
      const { rows } = await knex.raw<{ rows: Row[] }>(
        // From each sync to the next, and each part by an index: a sync that runs each minute has half a million runs.
        `WITH RECURSIVE names AS (
           SELECT CAST(coalesce(:sync, (SELECT min(sync) FROM runs)) AS text) AS sync
           UNION ALL
           SELECT (SELECT min(sync) FROM runs WHERE sync > n.sync) FROM names n
           WHERE CAST(:sync AS text) IS NULL AND n.sync IS NOT NULL
         ), known AS (
           SELECT sync FROM names UNION SELECT sync FROM awaited_syncs WHERE CAST(:sync AS text) IS NULL
         ), syncs AS (
           SELECT n.sync, f.started_at AS first_run_at, coalesce(f.started_at, a.since) AS expected_since,
             (SELECT max(ended_at) FROM runs WHERE sync = n.sync AND ${IS_SYNC} AND ${IS_GOOD}) AS last_success_at
           FROM known n
             LEFT JOIN LATERAL (SELECT started_at FROM runs WHERE sync = n.sync ORDER BY id LIMIT 1) f ON true
             LEFT JOIN awaited_syncs a USING (sync)
           WHERE f.started_at IS NOT NULL OR a.since IS NOT NULL
         ), bad AS (
           SELECT r.*, b."runsSinceSuccess" FROM syncs s,
             LATERAL (SELECT max(id) AS id, count(*) AS "runsSinceSuccess" FROM (
               (SELECT id FROM runs WHERE sync = s.sync AND ${IS_SYNC} AND ${IS_BAD} AND (s.last_success_at IS NULL OR ended_at > s.last_success_at)
                ORDER BY ended_at DESC LIMIT ${COUNT_BOUND})
               UNION ALL
               SELECT id FROM runs WHERE sync = s.sync AND ${IS_SYNC} AND ended_at IS NULL AND id = ANY (${GONE})) latest) b
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
           SELECT m.sync, min((SELECT min(since) FROM waiting WHERE mapping_id = m.id)) AS waiting_since,
             -- In the order of an index: PostgreSQL might read the whole table for a mapping that has few.
             sum(${countToBound('FROM dead_letters WHERE mapping_id = m.id ORDER BY code, id')}) AS dead_letters
           FROM mappings m
           WHERE CAST(:sync AS text) IS NULL OR m.sync = :sync
           GROUP BY m.sync
         )
         SELECT s.sync, now() AS now, s.first_run_at AS "firstRunAt", s.expected_since AS "expectedSince", s.last_success_at AS "lastSuccessAt",
           coalesce(b."runsSinceSuccess", 0)::float8 AS "runsSinceSuccess",
           ${countToBound(`FROM runs WHERE sync = s.sync AND ${IS_REFUSED} AND (s.last_success_at IS NULL OR ended_at > s.last_success_at)`)}::float8 AS refused,
           CASE WHEN b.id IS NOT NULL THEN json_build_object('run', b.id::text, 'workflowId', b.workflow_id, 'outcome', coalesce(b.outcome, 'failed'),
             'failure', CASE WHEN b.outcome IS NULL THEN CAST(:end AS json) WHEN b.failure_code IS NOT NULL THEN json_build_object('code', b.failure_code, 'message', b.failure_message) END)
           END AS latest,
           u.gap::float8 AS "usualGap", u.duration::float8 AS "usualDuration",
           n.waiting_since AS "oldestWaitingAt", least(coalesce(n.dead_letters, 0), ${COUNT_BOUND})::float8 AS "deadLetters",
           p.name AS lagging_mapping, p.read_until,
           (SELECT count(*) FROM removal_plans h JOIN mappings m ON m.id = h.mapping_id
            WHERE m.sync = s.sync AND h.state IN ('awaiting_approval', 'empty'))::float8 AS "plansAwaitingApproval",
           (SELECT count(*) FROM guards g JOIN runs ON runs.id = g.run_id WHERE runs.sync = s.sync AND ${HOLDS_MAPPING} AND runs.id <> ALL (${GONE}))::float8 AS "mappingsOnHold",
           ARRAY(SELECT json_build_object('name', name, 'since', paused_since, 'note', note) FROM schedules
                 WHERE sync = s.sync AND paused_since IS NOT NULL ORDER BY paused_since, name) AS paused,
           ARRAY(SELECT json_build_object('name', name, 'skipped', skipped, 'missed', missed, 'lastAt', not_started_at) FROM schedules
                 WHERE sync = s.sync AND not_started_at IS NOT NULL ORDER BY name) AS not_started,
           retrying.code AS retrying_code, retrying.since AS retrying_since, retrying.last_failed_at AS retrying_last_failed_at,
           (SELECT min(moved_at) FROM (
              SELECT greatest(r.started_at, max(p.started_at), max(p.updated_at)) AS moved_at
              FROM runs r LEFT JOIN partitions p ON p.run_id = r.id
              WHERE r.sync = s.sync AND r.ended_at IS NULL AND r.id <> ALL (${GONE})
                -- A guarded run waits for the approval of its plan, which is told as such.
                AND NOT EXISTS (SELECT FROM removal_plans h JOIN guards USING (run_id, mapping_id)
                                WHERE h.run_id = r.id AND h.state = 'awaiting_approval')
              GROUP BY r.id) working) AS "noProgressSince"
         FROM syncs s
           LEFT JOIN bad b ON b.sync = s.sync
           LEFT JOIN usual u ON u.sync = s.sync
           LEFT JOIN undelivered n ON n.sync = s.sync
           LEFT JOIN LATERAL (SELECT name, read_until FROM mappings WHERE sync = s.sync AND read_until IS NOT NULL
                              ORDER BY read_until, name LIMIT 1) p ON true
           LEFT JOIN LATERAL (
             SELECT * FROM (
               SELECT retrying_code AS code, retrying_since AS since, last_retry_at AS last_failed_at FROM runs
               WHERE sync = s.sync AND ended_at IS NULL AND ${IS_RETRYING} AND id <> ALL (${GONE})
               UNION ALL
               ${WAITS_FOR_RETRY_AFTER}
             ) all_retrying ORDER BY last_failed_at - since DESC LIMIT 1) retrying ON true
         ORDER BY s.sync`,
        { sync: sync ?? null, abandoned: [...abandoned], end: JSON.stringify(ABANDONED) },
      );
      return rows.map(
        ({
          lagging_mapping: mapping,
          read_until: readUntil,
          retrying_code: code,
          retrying_since: since,
          retrying_last_failed_at: lastFailedAt,
          paused,
          not_started: notStarted,
          ...state
        }) => ({
          ...state,
          mostLagging: mapping === null || readUntil === null ? null : { mapping, readUntil },
          pausedSchedules: paused.map((schedule) => ({ ...schedule, since: new Date(schedule.since) })),
          notStarted: notStarted.map((schedule) => ({ ...schedule, lastAt: new Date(schedule.lastAt) })),
          retrying: code === null || since === null || lastFailedAt === null ? null : { code, since, lastFailedAt },
        }),
      );
    },
  };
}

/** The ids of the runs that were abandoned. */
const GONE = 'CAST(:abandoned AS bigint[])';

type Row = Omit<SyncState, 'mostLagging' | 'retrying' | 'pausedSchedules' | 'notStarted'> & {
  paused: { name: string; since: string; note: string | null }[];
  not_started: { name: string; skipped: number; missed: number; lastAt: string }[];
  lagging_mapping: string | null;
  read_until: Date | null;
  retrying_code: string | null;
  retrying_since: Date | null;
  retrying_last_failed_at: Date | null;
};
