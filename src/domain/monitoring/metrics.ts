/** The table of metrics: what a worker tells Prometheus. docs/monitoring.md shows it, and a test compares the two. */

/**
 * The declaration of a metric. Labels have few values, which come from files, variables and tables of ours, never from rows.
 */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
}

/** Begins the name of each metric. */
export const METRIC_PREFIX = 'partner_sync_';

/** Labels of what is told of each mapping. Both are names of files. */
const OF_MAPPING = ['sync', 'mapping'] as const;

/** Labels of what is told of each change feed, which is a name in files, too. */
const OF_FEED = ['sync', 'feed'] as const;

/** What each worker measures of its own work, by the name without {@link METRIC_PREFIX}. */
export const WORKER_METRICS = {
  rows_read_total: { type: 'counter', labels: OF_MAPPING, meaning: 'rows that runs have read and counted' },
  rows_total: {
    type: 'counter',
    labels: [...OF_MAPPING, 'outcome'],
    meaning:
      '`accepted`, `unchanged`, `waiting` or `dead_lettered`: rows by outcome. A row that waits is counted as `waiting`, and once more with the outcome that it has later in the same run',
  },
  tenant_rows_total: {
    type: 'counter',
    labels: [...OF_MAPPING, 'tenant', 'outcome'],
    meaning: 'the same of a tenant that `PARTNER_SYNC_METRICS_TENANTS` names; missing for all others',
  },
  batches_sent_total: { type: 'counter', labels: OF_MAPPING, meaning: 'batches that the platform has taken' },
  source_read_duration_seconds: {
    type: 'histogram',
    labels: OF_MAPPING,
    meaning: 'how long a chunk took to be read and mapped',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  source_connections: {
    type: 'gauge',
    labels: ['sync'],
    meaning: "connections of the source's pool that are in use",
  },
  source_connections_limit: { type: 'gauge', labels: ['sync'], meaning: '`source.pool.max`' },
  platform_request_duration_seconds: {
    type: 'histogram',
    labels: ['operation', 'status'],
    meaning:
      'how long a request took; `status` is `2xx`, `3xx`, `4xx`, `5xx`, or `none` for a request without a complete response',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  platform_retries_total: { type: 'counter', labels: ['operation'], meaning: 'requests that were sent again' },
  platform_requests: { type: 'gauge', labels: [], meaning: 'requests to the platform that are under way' },
  platform_requests_limit: {
    type: 'gauge',
    labels: ['sync'],
    meaning:
      'how many may be under way in this process: its share of `upload.requestsAtOnce`, or fewer after the platform was busy; 0 while it waits for its turn',
  },
  ledger_statement_duration_seconds: {
    type: 'histogram',
    labels: [],
    meaning: 'how long a statement on the ledger took',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  },
  ledger_connections: { type: 'gauge', labels: [], meaning: "connections of the ledger's pool that are in use" },
  ledger_connections_limit: { type: 'gauge', labels: [], meaning: 'how many there may be' },
  ledger_up: {
    type: 'gauge',
    labels: [],
    meaning: '1 if the metrics of the second table could be read from the ledger, else 0, and they are missing',
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** What is read from the ledger, and so is the same on each worker. */
export const LEDGER_METRICS = {
  last_success_timestamp_seconds: {
    type: 'gauge',
    labels: ['sync'],
    meaning:
      'end of the latest run of kind `sync` that ended `complete` or `complete_with_dead_letters`; samples and backfills do not count',
  },
  freshness_limit_seconds: {
    type: 'gauge',
    labels: ['sync'],
    meaning:
      'how long ago the last success may be: `limits.success` of the sync, or its default; missing while it has neither',
  },
  last_run: {
    type: 'gauge',
    labels: ['sync', 'outcome'],
    meaning: '1 for the outcome of the latest of those runs that has ended, 0 for the other outcomes',
  },
  read_until_timestamp_seconds: {
    type: 'gauge',
    labels: OF_MAPPING,
    meaning:
      'the moment up to which the mapping has been read: the time since then is its lag; missing until a run has read it to the end',
  },
  lag_limit_seconds: {
    type: 'gauge',
    labels: ['sync'],
    meaning: 'how long the lag of a mapping may be: `limits.lag` of the sync; missing if it is not set',
  },
  changed_rows: {
    type: 'gauge',
    labels: OF_MAPPING,
    meaning: 'rows that a change feed has named, and that are still to be delivered; missing without a feed',
  },
  oldest_changed_row_timestamp_seconds: {
    type: 'gauge',
    labels: OF_MAPPING,
    meaning: 'when the one of them was named that waits longest; missing if there is none',
  },
  feed_read_timestamp_seconds: {
    type: 'gauge',
    labels: OF_FEED,
    meaning: 'when the change feed was last read to its end; missing if it never was',
  },
  feed_seen_timestamp_seconds: {
    type: 'gauge',
    labels: OF_FEED,
    meaning: 'when the source was last asked how the change feed stands: the next four are as it said then',
  },
  feed_readable: {
    type: 'gauge',
    labels: OF_FEED,
    meaning: '1 if the change feed could be read from where it was left, 0 if not',
  },
  feed_kept_bytes: {
    type: 'gauge',
    labels: OF_FEED,
    meaning: 'how much of its log the source keeps for the change feed',
  },
  feed_unread_bytes: { type: 'gauge', labels: OF_FEED, meaning: 'how much of that nobody has read' },
  feed_left_bytes: {
    type: 'gauge',
    labels: OF_FEED,
    meaning: 'how much more the source will keep before it gives the change feed up; missing if it has no limit',
  },
  feed_limit_bytes: { type: 'gauge', labels: OF_FEED, meaning: '`changes.maxWal`; missing if it is not set' },
  waiting_records: { type: 'gauge', labels: [...OF_MAPPING, 'reason'], meaning: 'waiting records' },
  oldest_waiting_timestamp_seconds: {
    type: 'gauge',
    labels: ['sync'],
    meaning: 'since when the record waits that has waited longest; missing if none waits',
  },
  dead_letters: {
    type: 'gauge',
    labels: [...OF_MAPPING, 'code'],
    meaning: 'dead letters by their code ([errors.md](errors.md))',
  },
  tenant_waiting_records: {
    type: 'gauge',
    labels: [...OF_MAPPING, 'tenant'],
    meaning: 'waiting records of a tenant that `PARTNER_SYNC_METRICS_TENANTS` names; missing for all others',
  },
  tenant_dead_letters: {
    type: 'gauge',
    labels: [...OF_MAPPING, 'tenant'],
    meaning: 'dead letters of such a tenant',
  },
  paused_since_timestamp_seconds: {
    type: 'gauge',
    labels: ['sync', 'schedule'],
    meaning: 'when the schedule was first seen to be paused; missing if it is not',
  },
  removal_plans_awaiting_approval: {
    type: 'gauge',
    labels: ['sync'],
    meaning: 'removal plans that a person has to approve',
  },
  retrying_since_timestamp_seconds: {
    type: 'gauge',
    labels: ['sync', 'code'],
    meaning:
      'since when the steps of a run have been failing with this code and are tried again; missing if none fails',
  },
  mappings_on_hold: {
    type: 'gauge',
    labels: ['sync'],
    meaning: 'mappings that a run holds because of `guard`, until somebody approves',
  },
  open_batches: {
    type: 'gauge',
    labels: ['sync', 'state'],
    meaning: 'batches that are `intended`, `sent` or `pending`',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type WorkerMetric = keyof typeof WORKER_METRICS;
export type LedgerMetric = keyof typeof LEDGER_METRICS;

/** One sample of a metric that is read from the ledger. */
export interface LedgerSample {
  readonly metric: LedgerMetric;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
