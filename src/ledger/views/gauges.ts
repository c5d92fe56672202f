/**
 * What the ledger knows for metrics. Counts stop at a bound and every statement follows an index, so that reading costs
 * the same however large the ledger is (oldest waiting records first, latest runs and plans first).
 */
import type { Knex } from 'knex';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { milliseconds, seconds } from '../../domain/timeouts.js';
import type { LedgerMetric, LedgerSample } from '../../domain/monitoring/metrics.js';
import { TO_DELIVER } from '../changes/changed-rows.js';
import { HOLDS_MAPPING } from './holds-mapping.js';
import { IS_BAD, IS_GOOD, IS_SYNC } from '../runs/run-conditions.js';
import { IS_RETRYING } from '../runs/runs.js';
import { inTransaction } from '../database/statements.js';

export interface Gauges {
  /** Resolves when the database has answered. */
  ping(): Promise<void>;
  /** The values of the metrics for these syncs, and of these tenants in them; those that the ledger does not know have none. */
  read(syncs: readonly string[], tenants?: readonly string[]): Promise<readonly LedgerSample[]>;
}

/** The number of rows that a SELECT with this FROM finds, up to {@link COUNT_BOUND}; the FROM should follow an index. */
export const countToBound = (from: string): string =>
  `(SELECT count(*) FROM (SELECT ${from} LIMIT ${COUNT_BOUND}) counted)`;

/** How far back removal plans are looked through; only the latest plan of a mapping can await approval. */
const LATEST = 1000;

/** The latest run of the sync `s.sync` that counts as `isSo`. A backfill says nothing about how fresh the sync is. */
const latestRun = (isSo: string): string =>
  `(SELECT outcome, ended_at FROM runs WHERE sync = s.sync AND ${IS_SYNC} AND ${isSo} ORDER BY ended_at DESC LIMIT 1)`;
/** The syncs that are asked about: as rows, and as a condition on their mappings. */
const SYNCS = 'unnest(CAST(:syncs AS text[])) AS s(sync)';
const IN_SYNCS = 'm.sync = ANY (CAST(:syncs AS text[]))';

/** What each of the tenants has in a table, along the table's index by tenant and external id. */
const ofTenants = (table: string): string =>
  `SELECT m.sync, m.name AS mapping, t.platform_id AS tenant, ${countToBound(
    `FROM ${table} WHERE mapping_id = m.id AND tenant_id = t.id ORDER BY external_id`,
  )}::float8 AS value
  FROM mappings m CROSS JOIN tenants t WHERE ${IN_SYNCS} AND t.platform_id = ANY (CAST(:tenants AS text[]))`;

/** What is known of each change feed. */
const ofFeeds = (value: string): string =>
  `SELECT sync, name AS feed, (${value})::float8 AS value FROM change_feeds
  WHERE sync = ANY (CAST(:syncs AS text[])) AND (${value}) IS NOT NULL`;

/** The states as constants, since partial indexes serve no others. */
const openBatches = ['intended', 'sent', 'pending'].map(
  (state) =>
    `SELECT '${state}' AS state, ${countToBound(`FROM batches WHERE mapping_id = m.id AND state = '${state}'`)} AS batches`,
);

/** Since when a Retry-After holds the requests of the sync `s.sync`, which it still does. */
export const WAITS_FOR_RETRY_AFTER = `SELECT 'platform_busy' AS code, r.since, now() AS last_failed_at FROM senders e JOIN platform_retry_after r USING (account)
  WHERE e.sync = s.sync AND r.until > now() AND e.seen_at > now() - ${seconds('fleetGone')} * interval '1 second'`;

/** Metrics that a statement reads. The limits of a sync are in its files. */
type ReadMetric = Exclude<LedgerMetric, 'freshness_limit_seconds' | 'lag_limit_seconds'>;

/** The columns of a result are the metric's labels, and `value`. */
const STATEMENTS: Readonly<Record<ReadMetric, string>> = {
  last_success_timestamp_seconds: `
    SELECT s.sync, extract(epoch FROM r.ended_at)::float8 AS value
    FROM ${SYNCS} CROSS JOIN LATERAL ${latestRun(IS_GOOD)} r`,
  last_run: `
    SELECT s.sync, o.outcome, (o.outcome = r.outcome)::int::float8 AS value
    FROM ${SYNCS} CROSS JOIN LATERAL (
      SELECT outcome FROM (${latestRun(IS_GOOD)} UNION ALL ${latestRun(IS_BAD)}) r ORDER BY ended_at DESC LIMIT 1) r
    CROSS JOIN (VALUES ('complete'), ('complete_with_dead_letters'), ('incomplete'), ('failed')) AS o(outcome)`,
  read_until_timestamp_seconds: `
    SELECT m.sync, m.name AS mapping, extract(epoch FROM m.read_until)::float8 AS value
    FROM mappings m WHERE ${IN_SYNCS} AND m.read_until IS NOT NULL`,
  changed_rows: `
    SELECT m.sync, m.name AS mapping, ${countToBound(`FROM changed_rows WHERE mapping_id = m.id AND ${TO_DELIVER}`)}::float8 AS value
    FROM mappings m JOIN fed_mappings f ON f.mapping_id = m.id WHERE ${IN_SYNCS}`,
  oldest_changed_row_timestamp_seconds: `
    SELECT m.sync, m.name AS mapping, extract(epoch FROM c.recorded_at)::float8 AS value
    FROM mappings m CROSS JOIN LATERAL (
      SELECT recorded_at FROM changed_rows WHERE mapping_id = m.id AND ${TO_DELIVER} ORDER BY seq LIMIT 1) c WHERE ${IN_SYNCS}`,
  feed_read_timestamp_seconds: ofFeeds('extract(epoch FROM read_at)'),
  feed_seen_timestamp_seconds: ofFeeds('extract(epoch FROM seen_at)'),
  feed_readable: ofFeeds('CASE WHEN seen_at IS NOT NULL THEN (problem IS NULL)::int END'),
  feed_kept_bytes: ofFeeds('kept_bytes'),
  feed_unread_bytes: ofFeeds('unread_bytes'),
  feed_left_bytes: ofFeeds('bytes_left'),
  feed_limit_bytes: ofFeeds('max_bytes'),
  waiting_records: `
    SELECT m.sync, m.name AS mapping, w.reason, count(*)::float8 AS value FROM mappings m CROSS JOIN LATERAL (
      SELECT reason FROM waiting WHERE mapping_id = m.id ORDER BY since LIMIT ${COUNT_BOUND}) w
    WHERE ${IN_SYNCS} GROUP BY 1, 2, 3`,
  oldest_waiting_timestamp_seconds: `
    SELECT m.sync, extract(epoch FROM min(w.since))::float8 AS value FROM mappings m CROSS JOIN LATERAL (
      SELECT since FROM waiting WHERE mapping_id = m.id ORDER BY since LIMIT 1) w
    WHERE ${IN_SYNCS} GROUP BY 1`,
  // From each code to the next: the index has them in order, and looking through all dead letters may take long. Only the
  // order by code makes PostgreSQL use it for the counts too (of "code = c.code" it leaves the order out): otherwise it
  // expects to reach the bound soon in any order, and reads the whole table for a rare code.
  dead_letters: `
    WITH RECURSIVE codes AS (
      SELECT m.id, m.sync, m.name, (SELECT min(code) FROM dead_letters WHERE mapping_id = m.id) AS code
      FROM mappings m WHERE ${IN_SYNCS}
      UNION ALL
      SELECT c.id, c.sync, c.name, (SELECT min(code) FROM dead_letters WHERE mapping_id = c.id AND code > c.code)
      FROM codes c WHERE c.code IS NOT NULL)
    SELECT c.sync, c.name AS mapping, c.code, ${countToBound(
      'FROM dead_letters WHERE mapping_id = c.id AND code >= c.code AND code <= c.code ORDER BY code, id',
    )}::float8 AS value
    FROM codes c WHERE c.code IS NOT NULL`,
  tenant_waiting_records: ofTenants('waiting'),
  tenant_dead_letters: ofTenants('dead_letters'),
  paused_since_timestamp_seconds: `
    SELECT sync, name AS schedule, extract(epoch FROM paused_since)::float8 AS value FROM schedules
    WHERE paused_since IS NOT NULL AND sync = ANY (CAST(:syncs AS text[]))`,
  removal_plans_awaiting_approval: `
    SELECT m.sync, count(*) FILTER (WHERE p.state IN ('awaiting_approval', 'empty'))::float8 AS value
    FROM mappings m LEFT JOIN LATERAL (
      SELECT state FROM removal_plans WHERE mapping_id = m.id ORDER BY id DESC LIMIT ${LATEST}) p ON true
    WHERE ${IN_SYNCS} GROUP BY 1`,
  retrying_since_timestamp_seconds: `
    SELECT sync, code, extract(epoch FROM min(since))::float8 AS value FROM (
      SELECT sync, retrying_code AS code, retrying_since AS since
      FROM runs WHERE ended_at IS NULL AND sync = ANY (CAST(:syncs AS text[])) AND ${IS_RETRYING}
        AND last_retry_at - retrying_since >= interval '${seconds('retryingLimit')} s'
      UNION ALL
      SELECT s.sync, b.code, b.since FROM ${SYNCS} CROSS JOIN LATERAL (${WAITS_FOR_RETRY_AFTER}) b) retrying GROUP BY 1, 2`,
  mappings_on_hold: `
    SELECT s.sync, (SELECT count(*) FROM guards g JOIN runs ON runs.id = g.run_id WHERE runs.sync = s.sync AND ${HOLDS_MAPPING})::float8 AS value
    FROM ${SYNCS} WHERE EXISTS (SELECT FROM mappings WHERE mappings.sync = s.sync)`,
  open_batches: `
    SELECT m.sync, b.state, sum(b.batches)::float8 AS value
    FROM mappings m CROSS JOIN LATERAL (${openBatches.join(' UNION ALL ')}) b WHERE ${IN_SYNCS} GROUP BY 1, 2`,
};

export function openGauges(knex: Knex): Gauges {
  return {
    async ping() {
      await knex.raw('SELECT 1');
    },
    read: (syncs, tenants = []) =>
      inTransaction(knex, async (trx) => {
        await trx.raw(`SET LOCAL statement_timeout = ${milliseconds('metricsStatement')}`);
        const samples: LedgerSample[] = [];
        for (const [metric, sql] of Object.entries(STATEMENTS) as [ReadMetric, string][]) {
          const { rows } = await trx.raw<{ rows: Readonly<Record<string, string> & { value: number }>[] }>(sql, {
            syncs: [...syncs],
            tenants: [...tenants],
          });
          samples.push(...rows.map(({ value, ...labels }): LedgerSample => ({ metric, labels, value: Number(value) })));
        }
        return samples;
      }),
  };
}
