/**
 * Which rows may be removed, in SQL: those that are old enough and that nothing refers to any more. What `status`,
 * reports and metrics say must be the same without them.
 *
 * Bindings: `sync`, `mapping`, and the times before which the rows of each kind are old.
 */

import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { IS_BAD, IS_GOOD, IS_REFUSED, IS_SCHEDULED, IS_SYNC } from '../runs/run-conditions.js';

/**
 * What the rows are looked for. To `remove`: rows of the kinds before are gone already, so whatever still refers to a row
 * keeps it. To `count`: they are all there, and only those keep a row that would not be removed themselves.
 */
export type Purpose = 'remove' | 'count';

const isPrunableBatch = (b: string): string => `(${b}.settled_at < CAST(:batches AS timestamptz)) IS TRUE
  AND NOT EXISTS (SELECT FROM waiting WHERE waiting.batch_id = ${b}.id)`;

// The next run goes on with what the partitions of a stopped load have left, so it needs all of them.
const isPrunablePartition = (
  p: string,
  endedAt: string,
  purpose: Purpose,
): string => `(${endedAt} < CAST(:partitions AS timestamptz)) IS TRUE
  AND NOT EXISTS (SELECT FROM waiting WHERE waiting.partition_id = ${p}.id)
  AND NOT EXISTS (SELECT FROM fed_mappings f WHERE f.mapping_id = ${p}.mapping_id AND f.load_run_id = ${p}.run_id AND NOT f.loaded)
  AND NOT EXISTS (SELECT FROM batches b WHERE b.partition_id = ${p}.id ${thatStay(isPrunableBatch('b'), purpose)})`;

// The records of a plan that was approved stay until a later plan is carried out: they need no second approval.
const isPrunablePlan = (
  p: string,
  r: string,
): string => `${p}.state IN ('done', 'replaced') AND (${r}.ended_at < CAST(:removalPlans AS timestamptz)) IS TRUE
  AND NOT EXISTS (SELECT FROM removals WHERE removals.plan_id = ${p}.id)`;

const thatStay = (isPrunable: string, purpose: Purpose): string =>
  purpose === 'count' ? `AND NOT (${isPrunable})` : '';

/** Batches of the mapping that were settled or superseded. */
export const OLD_BATCHES = `SELECT b.id, b.settled_at AS at FROM batches b
  WHERE b.mapping_id = :mapping AND b.settled_at < CAST(:batches AS timestamptz) AND ${isPrunableBatch('b')}`;

/** Not a join: PostgreSQL would read all old runs, and look for a partition of each. */
const END_OF_RUN = '(SELECT ended_at FROM runs WHERE runs.id = p.run_id)';

/**
 * Partitions of the mapping. Runs with an id up to that of the run that ended last before the time are looked at, or
 * all later partitions would be read to no purpose.
 */
export const oldPartitions = (purpose: Purpose): string => `SELECT p.id, ${END_OF_RUN} AS at
  FROM partitions p
  WHERE p.mapping_id = :mapping AND p.run_id <= (SELECT max(id) FROM (SELECT id FROM runs
      WHERE sync = :sync AND ended_at < CAST(:partitions AS timestamptz) ORDER BY ended_at DESC LIMIT 1000) old)
    AND ${isPrunablePartition('p', END_OF_RUN, purpose)}`;

/** Removal plans that were carried out or replaced. */
export const OLD_REMOVAL_PLANS = `SELECT p.id, r.ended_at AS at
  FROM removal_plans p JOIN mappings m ON m.id = p.mapping_id JOIN runs r ON r.id = p.run_id
  WHERE m.sync = :sync AND ${isPrunablePlan('p', 'r')}`;

/** How many of a sync's runs tell how often a schedule starts one: `status` judges by the gaps before the latest 20. */
const LATEST = 21;

/** The latest rows that such a SELECT finds, as many as `status` counts: from `from` on, or `none` if there are no rows. */
const counted = (from: string, column: string, none: string): string =>
  `(SELECT coalesce(min(${column}), ${none}) FROM (SELECT ${column} ${from} ORDER BY ${column} DESC LIMIT ${COUNT_BOUND}) latest)`;

/**
 * What `status`, `schedules list` and metrics need of the runs of a sync, to be asked once. `kept`: the last success, the
 * run with which the time without one began, and the latest runs; of each schedule its last good run and its latest.
 * Failures that are counted are needed too, from a time on or from an id on, but no more of them than are counted.
 */
export const NEEDED_RUNS = `
  WITH RECURSIVE ids AS (
    SELECT min(started_by) AS id FROM runs WHERE trigger = 'schedule'
    UNION ALL
    SELECT (SELECT min(started_by) FROM runs WHERE trigger = 'schedule' AND started_by > ids.id)
    FROM ids WHERE ids.id IS NOT NULL
  ), schedules AS (
    SELECT s.id, s.latest, coalesce((SELECT max(r.id) FROM runs r
      WHERE r.trigger = 'schedule' AND r.started_by = s.id AND ${IS_GOOD}), 0) AS last_good
    FROM (SELECT id, (SELECT max(r.id) FROM runs r
            WHERE r.trigger = 'schedule' AND r.started_by = ids.id AND ended_at IS NOT NULL) AS latest FROM ids) s
    WHERE (SELECT sync FROM runs WHERE runs.id = s.latest) = :sync
  ), success AS (
    SELECT id, ended_at FROM runs WHERE sync = :sync AND ${IS_SYNC} AND ${IS_GOOD} ORDER BY ended_at DESC LIMIT 1
  ), since AS (
    SELECT coalesce((SELECT id FROM success), 0) AS id, coalesce((SELECT ended_at FROM success), '-infinity') AS at)
  SELECT
    ARRAY(
      SELECT id FROM success
      UNION ALL (SELECT id FROM runs WHERE sync = :sync AND id > (SELECT id FROM since) ORDER BY id LIMIT 1)
      UNION ALL (SELECT id FROM runs WHERE sync = :sync ORDER BY id DESC LIMIT ${LATEST})
      UNION ALL (SELECT id FROM runs WHERE sync = :sync AND ${IS_SCHEDULED} ORDER BY started_at DESC LIMIT ${LATEST})
      UNION ALL SELECT unnest(ARRAY[last_good, latest]) FROM schedules) AS kept,
    ${counted(`FROM runs, since WHERE sync = :sync AND ${IS_SYNC} AND ${IS_BAD} AND ended_at > since.at`, 'ended_at', `'infinity'`)}::text AS "badSince",
    ${counted(`FROM runs, since WHERE sync = :sync AND ${IS_REFUSED} AND ended_at > since.at`, 'ended_at', `'infinity'`)}::text AS "refusedSince",
    ARRAY(SELECT id FROM schedules ORDER BY id) AS schedules,
    ARRAY(SELECT ${counted(`FROM runs r WHERE r.trigger = 'schedule' AND r.started_by = s.id AND ${IS_BAD} AND r.id > s.last_good`, 'id', '0')}
      FROM schedules s ORDER BY s.id) AS "badFrom"`;

/** Runs of the sync. Further bindings: what {@link NEEDED_RUNS} has found. */
export const oldRuns = (purpose: Purpose): string => `SELECT r.id, r.ended_at AS at
  FROM runs r LEFT JOIN unnest(CAST(:schedules AS text[]), CAST(:badFrom AS bigint[])) AS s(id, bad_from)
    ON r.trigger = 'schedule' AND r.started_by = s.id
  WHERE r.sync = :sync AND r.ended_at < CAST(:runs AS timestamptz) AND r.id <> ALL (CAST(:kept AS bigint[]))
    AND (${IS_SYNC} AND ${IS_BAD} AND r.ended_at >= CAST(:badSince AS timestamptz)) IS NOT TRUE
    AND (${IS_REFUSED} AND r.ended_at >= CAST(:refusedSince AS timestamptz)) IS NOT TRUE
    AND (${IS_BAD} AND s.bad_from > 0 AND r.id >= s.bad_from) IS NOT TRUE
    AND NOT EXISTS (SELECT FROM positions WHERE positions.run_id = r.id)
    AND NOT EXISTS (SELECT FROM sync_leases WHERE sync_leases.run_id = r.id)
    AND NOT EXISTS (SELECT FROM dead_letters WHERE dead_letters.run_id = r.id)
    AND NOT EXISTS (SELECT FROM removal_plans p WHERE p.run_id = r.id ${thatStay(isPrunablePlan('p', 'r'), purpose)})
    AND NOT EXISTS (SELECT FROM partitions p WHERE p.run_id = r.id ${thatStay(isPrunablePartition('p', 'r.ended_at', purpose), purpose)})`;

/** Entries of the audit. */
export const OLD_AUDIT = `SELECT id, at FROM audit WHERE sync = :sync AND at < CAST(:audit AS timestamptz)`;
