/**
 * The query for the states of syncs, put together from one part for each question. Each part finds its rows by an index:
 * a sync that runs each minute has half a million runs.
 *
 * Bindings: `sync` (null: all), `abandoned` (ids of runs that count as ended), `end` (the failure that such runs have).
 */
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { IS_BAD, IS_GOOD, IS_REFUSED, IS_SCHEDULED, IS_SYNC } from '../runs/run-conditions.js';
import { IS_RETRYING } from '../runs/runs.js';
import { countToBound, WAITS_FOR_RETRY_AFTER } from './gauges.js';
import { HOLDS_MAPPING } from './holds-mapping.js';

/** Whether a run counts as working: neither ended nor abandoned. */
const isWorking = (run: string): string =>
  `${run}.ended_at IS NULL AND ${run}.id <> ALL (CAST(:abandoned AS bigint[]))`;

/** Whether a run ended after the last success of the sync `s`. */
const SINCE_SUCCESS = '(s.last_success_at IS NULL OR ended_at > s.last_success_at)';

/** A part of the query: a row for each sync `s`, or for some of them, and the columns that it adds to the result. */
interface Part {
  readonly rows: string;
  readonly columns: string;
}

/** Which syncs there are, and when they first ran and last succeeded. */
const SYNCS = `
  WITH RECURSIVE names AS (
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
  )`;

/** The runs that have failed or ended incomplete since the last success: how many, and the latest of them. */
const BAD_RUNS: Part = {
  rows: `
    SELECT r.*, b.count FROM (
      SELECT max(id) AS id, count(*) AS count FROM (
        (SELECT id FROM runs WHERE sync = s.sync AND ${IS_SYNC} AND ${IS_BAD} AND ${SINCE_SUCCESS}
         ORDER BY ended_at DESC LIMIT ${COUNT_BOUND})
        UNION ALL
        SELECT id FROM runs WHERE sync = s.sync AND ${IS_SYNC} AND ended_at IS NULL AND id = ANY (CAST(:abandoned AS bigint[]))
      ) latest) b
      JOIN runs r ON r.id = b.id`,
  columns: `
    coalesce(bad_runs.count, 0)::float8 AS "runsSinceSuccess",
    CASE WHEN bad_runs.id IS NOT NULL THEN json_build_object(
      'run', bad_runs.id::text, 'workflowId', bad_runs.workflow_id, 'outcome', coalesce(bad_runs.outcome, 'failed'),
      'mode', bad_runs.mode, 'endedAt', bad_runs.ended_at,
      'failure', CASE
        WHEN bad_runs.outcome IS NULL THEN CAST(:end AS json)
        WHEN bad_runs.failure_code IS NOT NULL
          THEN json_build_object('code', bad_runs.failure_code, 'message', bad_runs.failure_message) END)
    END AS latest`,
};

/** The runs since the last success that were refused because another one was working. */
const REFUSED_RUNS: Part = {
  rows: `SELECT ${countToBound(`FROM runs WHERE sync = s.sync AND ${IS_REFUSED} AND ${SINCE_SUCCESS}`)} AS count`,
  columns: 'refused_runs.count::float8 AS refused',
};

/** How far apart the latest 20 runs of the schedules began, and how long they took: the medians. */
const USUAL: Part = {
  rows: `
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY gap) AS gap,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY duration) AS duration
    FROM (
      SELECT extract(epoch FROM started_at - lag(started_at) OVER (ORDER BY started_at)) AS gap,
        extract(epoch FROM ended_at - started_at) AS duration,
        row_number() OVER (ORDER BY started_at DESC) AS no
      -- One more than 20 starts, since a gap is between two.
      -- A run that follows change feeds lasts for as long as nobody ends it.
      FROM (SELECT started_at, ended_at FROM runs WHERE sync = s.sync AND ${IS_SCHEDULED} AND mode <> 'live'
            ORDER BY started_at DESC LIMIT 21) latest) scheduled
    WHERE no <= 20 HAVING count(gap) >= 2`,
  columns: 'usual.gap::float8 AS "usualGap", usual.duration::float8 AS "usualDuration"',
};

/** What the sync has not delivered: waiting records, dead letters. */
const UNDELIVERED: Part = {
  rows: `
    SELECT min((SELECT min(since) FROM waiting WHERE mapping_id = m.id)) AS waiting_since,
      -- In the order of an index: PostgreSQL might read the whole table for a mapping that has few.
      sum(${countToBound('FROM dead_letters WHERE mapping_id = m.id ORDER BY code, id')}) AS dead_letters
    FROM mappings m WHERE m.sync = s.sync`,
  columns: `
    undelivered.waiting_since AS "oldestWaitingAt",
    least(coalesce(undelivered.dead_letters, 0), ${COUNT_BOUND})::float8 AS "deadLetters"`,
};

/** The mapping whose rows were last read longest ago. */
const MOST_LAGGING: Part = {
  rows: 'SELECT name, read_until FROM mappings WHERE sync = s.sync AND read_until IS NOT NULL ORDER BY read_until, name LIMIT 1',
  columns: 'most_lagging.name AS lagging_mapping, most_lagging.read_until',
};

/** What a person has to decide: removal plans, and mappings that a guard has put on hold. */
const TO_DECIDE: Part = {
  rows: `
    SELECT
      (SELECT count(*) FROM removal_plans h JOIN mappings m ON m.id = h.mapping_id
       WHERE m.sync = s.sync AND h.state IN ('awaiting_approval', 'empty')) AS plans,
      (SELECT count(*) FROM guards g JOIN runs ON runs.id = g.run_id
       WHERE runs.sync = s.sync AND ${HOLDS_MAPPING} AND runs.id <> ALL (CAST(:abandoned AS bigint[]))) AS mappings`,
  columns: 'to_decide.plans::float8 AS "plansAwaitingApproval", to_decide.mappings::float8 AS "mappingsOnHold"',
};

/** The schedules that are paused, and those that have not started all of their runs. */
const SCHEDULES: Part = {
  rows: `
    SELECT
      ARRAY(SELECT json_build_object('name', name, 'since', paused_since, 'note', note) FROM schedules
            WHERE sync = s.sync AND paused_since IS NOT NULL ORDER BY paused_since, name) AS paused,
      ARRAY(SELECT json_build_object('name', name, 'skipped', skipped, 'missed', missed, 'lastAt', not_started_at)
            FROM schedules WHERE sync = s.sync AND not_started_at IS NOT NULL ORDER BY name) AS not_started`,
  columns: 'schedules_of_sync.paused, schedules_of_sync.not_started',
};

/** The working runs that somebody has paused, and not resumed since. */
const PAUSED_RUNS: Part = {
  rows: `
    SELECT json_agg(json_build_object('workflowId', r.workflow_id, 'since', last.at, 'by', last.who,
      'reason', last.subject ->> 'reason') ORDER BY last.at, r.id) AS runs
    FROM runs r CROSS JOIN LATERAL (
      SELECT * FROM audit WHERE sync = r.sync AND at >= r.started_at AND action IN ('run_paused', 'run_resumed')
        AND subject ->> 'run' = r.id::text ORDER BY id DESC LIMIT 1) last
    WHERE r.sync = s.sync AND ${isWorking('r')} AND last.action = 'run_paused'`,
  columns: `coalesce(paused_runs.runs, '[]') AS paused_runs`,
};

/** The mappings that working runs leave out. */
const SKIPPED: Part = {
  rows: `
    SELECT json_agg(m.skipped ORDER BY r.id) AS mappings
    FROM runs r CROSS JOIN LATERAL json_array_elements(r.skipped) AS m(skipped)
    WHERE r.sync = s.sync AND ${isWorking('r')}`,
  columns: `coalesce(left_out.mappings, '[]') AS skipped`,
};

/** The step of a working run that has been failing for the longest time. */
const RETRYING: Part = {
  rows: `
    SELECT * FROM (
      SELECT retrying_code AS code, retrying_since AS since, last_retry_at AS last_failed_at FROM runs
      WHERE sync = s.sync AND ${IS_RETRYING} AND ${isWorking('runs')}
      UNION ALL
      ${WAITS_FOR_RETRY_AFTER}
    ) all_retrying ORDER BY last_failed_at - since DESC LIMIT 1`,
  columns: `retrying.code AS retrying_code, retrying.since AS retrying_since, retrying.last_failed_at AS retrying_last_failed_at`,
};

/**
 * When the working run that has stood still for the longest time last moved, without runs that wait for the approval of a
 * removal plan.
 */
const NO_PROGRESS: Part = {
  rows: `
    SELECT min(moved_at) AS since FROM (
      -- A run that follows change feeds settles nothing while nothing changes.
      SELECT greatest(r.started_at, max(p.started_at), max(p.updated_at),
        CASE WHEN r.mode = 'live' THEN min(m.read_until) FILTER (WHERE p.kind = 'changed_rows') END) AS moved_at
      FROM runs r LEFT JOIN partitions p ON p.run_id = r.id LEFT JOIN mappings m ON m.id = p.mapping_id
      WHERE r.sync = s.sync AND ${isWorking('r')}
        AND NOT EXISTS (SELECT FROM removal_plans h JOIN guards USING (run_id, mapping_id)
                        WHERE h.run_id = r.id AND h.state = 'awaiting_approval')
      GROUP BY r.id) working`,
  columns: 'no_progress.since AS "noProgressSince"',
};

/** The change feeds that somebody has looked at. */
const FEEDS: Part = {
  rows: `
    SELECT coalesce(json_agg(json_build_object('name', name, 'keptBytes', kept_bytes, 'unreadBytes', unread_bytes,
      'maxBytes', max_bytes, 'problem', problem, 'givenUp', given_up, 'readAt', read_at) ORDER BY name), '[]') AS feeds
    FROM change_feeds WHERE sync = s.sync`,
  columns: 'feeds_of_sync.feeds',
};

/**
 * Of a run in mode live that works: up to when all changes are delivered, of the mappings that were ever read and of all, and how
 * many rows are not.
 */
const LIVE: Part = {
  rows: `
    SELECT min(m.read_until) AS followed_until, CASE WHEN bool_and(f.loaded) THEN min(m.read_until) END AS delivered_until,
      coalesce(sum(${countToBound('FROM changed_rows WHERE mapping_id = m.id')}), 0) AS changed_rows
    FROM mappings m JOIN fed_mappings f ON f.mapping_id = m.id
    WHERE m.sync = s.sync AND EXISTS (
      SELECT FROM runs r JOIN partitions p ON p.run_id = r.id AND p.mapping_id = m.id
      WHERE r.sync = s.sync AND r.mode = 'live' AND ${isWorking('r')})
    HAVING count(*) > 0`,
  columns: 'live.followed_until AS "followedUntil", live.delivered_until, live.changed_rows::float8',
};

const PARTS: Readonly<Record<string, Part>> = {
  bad_runs: BAD_RUNS,
  refused_runs: REFUSED_RUNS,
  usual: USUAL,
  undelivered: UNDELIVERED,
  most_lagging: MOST_LAGGING,
  to_decide: TO_DECIDE,
  schedules_of_sync: SCHEDULES,
  paused_runs: PAUSED_RUNS,
  left_out: SKIPPED,
  retrying: RETRYING,
  no_progress: NO_PROGRESS,
  feeds_of_sync: FEEDS,
  live: LIVE,
};

/** One row for each sync. */
export const SYNC_STATES = `${SYNCS}
  SELECT s.sync, now() AS now, s.first_run_at AS "firstRunAt", s.expected_since AS "expectedSince",
    s.last_success_at AS "lastSuccessAt", ${Object.values(PARTS)
      .map(({ columns }) => columns)
      .join(', ')}
  FROM syncs s ${Object.entries(PARTS)
    .map(([name, { rows }]) => `LEFT JOIN LATERAL (${rows}) ${name} ON true`)
    .join('\n')}
  ORDER BY s.sync`;
