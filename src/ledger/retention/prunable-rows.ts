/**
 * Which rows may be removed, in SQL: those that are old enough and that nothing refers to any more. What `status`,
 * reports and metrics say must be the same without them.
 *
 * Bindings: `sync`, `mapping`, and the times before which the rows of each kind are old.
 */

/**
 * What the rows are looked for. To `remove`: rows of the kinds before are gone already, so whatever still refers to a row
 * keeps it. To `count`: they are all there, and only those keep a row that would not be removed themselves.
 */
export type Purpose = 'remove' | 'count';

const isPrunableBatch = (b: string): string => `(${b}.settled_at < CAST(:batches AS timestamptz)) IS TRUE
  AND NOT EXISTS (SELECT FROM waiting WHERE waiting.batch_id = ${b}.id)`;

const isPrunablePartition = (
  p: string,
  endedAt: string,
  purpose: Purpose,
): string => `(${endedAt} < CAST(:partitions AS timestamptz)) IS TRUE
  AND NOT EXISTS (SELECT FROM waiting WHERE waiting.partition_id = ${p}.id)
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

const GOOD = `outcome IN ('complete', 'complete_with_dead_letters')`;

/**
 * How many of a sync's latest runs are always kept, and of those that a schedule started: `status` judges by the gaps
 * before the latest 20.
 */
const LATEST = 21;

/**
 * What `status`, `schedules list` and metrics need of the runs of a sync, to be asked once: the last success, before
 * which runs may go; the latest runs; and the last good run of each schedule, since which its failures are counted.
 */
export const NEEDED_RUNS = `
  WITH RECURSIVE schedules AS (
    SELECT min(started_by) AS id FROM runs WHERE trigger = 'schedule'
    UNION ALL
    SELECT (SELECT min(started_by) FROM runs WHERE trigger = 'schedule' AND started_by > s.id)
    FROM schedules s WHERE s.id IS NOT NULL)
  SELECT
    coalesce((SELECT id FROM runs WHERE sync = :sync AND kind = 'sync' AND mode <> 'sample' AND ${GOOD}
      ORDER BY id DESC LIMIT 1), 0) AS "lastSuccess",
    ARRAY(SELECT id FROM runs WHERE sync = :sync ORDER BY id DESC LIMIT ${LATEST})
      || ARRAY(SELECT id FROM runs WHERE sync = :sync AND trigger = 'schedule' ORDER BY id DESC LIMIT ${LATEST}) AS latest,
    ARRAY(SELECT id FROM schedules WHERE id IS NOT NULL ORDER BY id) AS schedules,
    ARRAY(SELECT coalesce((SELECT r.id FROM runs r WHERE r.trigger = 'schedule' AND r.started_by = s.id AND r.${GOOD}
      ORDER BY r.id DESC LIMIT 1), 0) FROM schedules s WHERE s.id IS NOT NULL ORDER BY s.id) AS "lastGood"`;

/** Runs of the sync. Further bindings: what {@link NEEDED_RUNS} has found. */
export const oldRuns = (purpose: Purpose): string => `SELECT r.id, r.ended_at AS at
  FROM runs r LEFT JOIN unnest(CAST(:schedules AS text[]), CAST(:lastGood AS bigint[])) AS s(id, last_good)
    ON r.trigger = 'schedule' AND r.started_by = s.id
  WHERE r.sync = :sync AND r.ended_at < CAST(:runs AS timestamptz)
    AND r.id < :lastSuccess AND r.id <> ALL (CAST(:latest AS bigint[])) AND (r.trigger <> 'schedule' OR r.id < s.last_good)
    AND NOT EXISTS (SELECT FROM positions WHERE positions.run_id = r.id)
    AND NOT EXISTS (SELECT FROM sync_leases WHERE sync_leases.run_id = r.id)
    AND NOT EXISTS (SELECT FROM dead_letters WHERE dead_letters.run_id = r.id)
    AND NOT EXISTS (SELECT FROM removal_plans p WHERE p.run_id = r.id ${thatStay(isPrunablePlan('p', 'r'), purpose)})
    AND NOT EXISTS (SELECT FROM partitions p WHERE p.run_id = r.id ${thatStay(isPrunablePartition('p', 'r.ended_at', purpose), purpose)})`;

/** Entries of the audit. */
export const OLD_AUDIT = `SELECT id, at FROM audit WHERE sync = :sync AND at < CAST(:audit AS timestamptz)`;
