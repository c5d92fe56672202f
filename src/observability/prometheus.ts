/** The metrics of a worker in Prometheus' text format: meters of its own work, and gauges read from the ledger. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  UNMEASURED,
  type MappingMeter,
  type Meters,
  type PoolInUse,
  type SyncInUse,
} from '../domain/monitoring/meters.js';
import {
  LEDGER_METRICS,
  METRIC_PREFIX,
  WORKER_METRICS,
  type LedgerSample,
  type WorkerMetric,
} from '../domain/monitoring/metrics.js';
import { addCounts, NO_COUNTS, type Counts } from '../domain/run/run.js';
import { milliseconds } from '../domain/timeouts.js';
import { cachedFor } from './cached-for.js';
import { within } from './within.js';

/** What a worker serves under /metrics. */
export interface Metrics {
  /** The meters that fill them. */
  readonly meters: Meters;
  /**
   * Shows the counters of mappings at zero before there is any work on them: if a counter first appears with a
   * value above zero, Prometheus does not count that as an increase.
   */
  begin(mappings: readonly { readonly sync: string; readonly mapping: string }[]): void;
  /** The value of the header content-type. */
  readonly contentType: string;
  /** All metrics, as they are now; those of the ledger as they were some seconds ago at most. Never rejects. */
  text(): Promise<string>;
}

/** The outcomes of rows by the name of their count. */
const OUTCOMES = {
  accepted: 'accepted',
  unchanged: 'unchanged',
  waiting: 'waiting',
  deadLettered: 'dead_lettered',
} as const;

/** Rows that leave `waiting` make its count smaller, which a counter cannot become. */
function incByOutcome(rows: Counter, labels: Readonly<Record<string, string>>, counts: Counts): void {
  for (const [name, outcome] of Object.entries(OUTCOMES) as [keyof typeof OUTCOMES, string][])
    rows.inc({ ...labels, outcome }, Math.max(0, counts[name]));
}

/** The metrics of a worker that are of this type. */
type Named<Type> = {
  [Name in WorkerMetric]: (typeof WORKER_METRICS)[Name]['type'] extends Type ? Name : never;
}[WorkerMetric];

/**
 * Creates the metrics of one process.
 *
 * @param readLedger reads the metrics of the second table; null leaves them to another worker, as all would show the same
 * @param tenants those that have metrics of their own
 */
export function openMetrics(
  readLedger: (() => Promise<readonly LedgerSample[]>) | null,
  tenants: readonly string[] = [],
): Metrics {
  const registry = new Registry();
  const declared = (name: WorkerMetric) => {
    const { labels, meaning } = WORKER_METRICS[name];
    return { name: METRIC_PREFIX + name, help: plainText(meaning), labelNames: [...labels], registers: [registry] };
  };
  const counter = (name: Named<'counter'>): Counter => new Counter(declared(name));
  const gauge = (name: Named<'gauge'>): Gauge => new Gauge(declared(name));
  const histogram = (name: Named<'histogram'>): Histogram =>
    new Histogram({ ...declared(name), buckets: [...WORKER_METRICS[name].buckets] });

  const rowsRead = counter('rows_read_total');
  const rows = counter('rows_total');
  const tenantRows = counter('tenant_rows_total');
  const batchesSent = counter('batches_sent_total');
  const readDuration = histogram('source_read_duration_seconds');
  const requestDuration = histogram('platform_request_duration_seconds');
  const retries = counter('platform_retries_total');
  const requests = gauge('platform_requests');
  const statementDuration = histogram('ledger_statement_duration_seconds');
  const ledgerConnections = gauge('ledger_connections');
  const ledgerConnectionsLimit = gauge('ledger_connections_limit');
  let ledgerPool: PoolInUse | undefined;
  const showLedgerPool = (): void => {
    ledgerConnections.set(ledgerPool?.connections() ?? 0);
    ledgerConnectionsLimit.set(ledgerPool?.connectionLimit ?? 0);
  };
  const showSyncs = syncsIn(
    gauge('platform_requests_limit'),
    gauge('source_connections'),
    gauge('source_connections_limit'),
  );
  /** By name: a sync whose files have changed replaces its former self. */
  const syncs = new Map<string, SyncInUse>();
  /** Checkpoints know mappings by their numbers in the ledger. */
  const names = new Map<number, { readonly sync: string; readonly mapping: string }>();

  const meters: Meters = {
    ledger: {
      tenants,
      watchConnections: (pool) => void (ledgerPool = pool),
      statementEnded: (seconds) => statementDuration.observe(seconds),
      counted(mappingId, entries) {
        const labels = names.get(mappingId);
        if (labels === undefined || entries.length === 0) return;
        const counts = entries.reduce<Counts>(addCounts, NO_COUNTS);
        rowsRead.inc(labels, Math.max(0, counts.read));
        incByOutcome(rows, labels, counts);
        for (const tenant of tenants) {
          const own = entries.filter((entry) => entry.tenant === tenant);
          incByOutcome(tenantRows, { ...labels, tenant }, own.reduce<Counts>(addCounts, NO_COUNTS));
        }
      },
    },
    platform: {
      requestBegins({ operation }) {
        requests.inc();
        const begun = performance.now();
        return (status) => {
          requests.dec();
          requestDuration.observe({ operation, status: classOf(status) }, (performance.now() - begun) / 1000);
        };
      },
      repeated: (operation) => retries.inc({ operation }),
    },
    mapping(mappingId, sync, mapping): MappingMeter {
      const labels = { sync, mapping };
      names.set(mappingId, labels);
      return {
        chunkRead: (seconds) => readDuration.observe(labels, seconds),
        batchSent: () => batchesSent.inc(labels),
        batchRepeated: () => retries.inc({ operation: 'uploadResources' }),
        ...UNMEASURED,
      };
    },
    watchSync: (sync, inUse) => void syncs.set(sync, inUse),
  };
  const showLedger = readLedger === null ? null : ledgerIn(registry, gauge('ledger_up'), readLedger);
  return {
    meters,
    begin(mappings) {
      for (const { sync, mapping } of mappings) {
        const labels = { sync, mapping };
        rowsRead.inc(labels, 0);
        batchesSent.inc(labels, 0);
        incByOutcome(rows, labels, NO_COUNTS);
        for (const tenant of tenants) incByOutcome(tenantRows, { ...labels, tenant }, NO_COUNTS);
      }
    },
    contentType: registry.contentType,
    async text() {
      showLedgerPool();
      await Promise.all([showLedger?.(), showSyncs(syncs)]);
      return registry.metrics();
    },
  };
}

/** Help texts are plain; the meanings are written for the documentation. */
const plainText = (meaning: string): string => meaning.replaceAll('`', '').replaceAll(/ \(\[[^)]*\)\)/g, '');

/** The class of a status: single statuses would make a series of each. */
const classOf = (status: number | null): string => (status === null ? 'none' : `${Math.floor(status / 100)}xx`);

/** Shows what the syncs have in use. A source that does not say so in time, as its thread is busy, is left out. */
function syncsIn(limit: Gauge, used: Gauge, most: Gauge): (syncs: ReadonlyMap<string, SyncInUse>) => Promise<void> {
  return async (syncs) => {
    used.reset();
    await Promise.all(
      [...syncs].map(async ([sync, { requestLimit, connections, connectionLimit }]) => {
        limit.set({ sync }, requestLimit());
        most.set({ sync }, connectionLimit);
        const inUse = await within(milliseconds('metricsWait'), connections()).catch(() => undefined);
        if (inUse !== undefined) used.set({ sync }, inUse);
      }),
    );
  };
}

/**
 * Shows what the ledger knows, read again after some seconds at the earliest. Samples that could not be read are
 * missing rather than old: an alert must not hang on what was true before the ledger went down.
 */
function ledgerIn(registry: Registry, up: Gauge, read: () => Promise<readonly LedgerSample[]>): () => Promise<void> {
  const gauges = new Map(
    Object.entries(LEDGER_METRICS).map(([name, { labels, meaning }]) => [
      name,
      new Gauge({
        name: METRIC_PREFIX + name,
        help: plainText(meaning),
        labelNames: [...labels],
        registers: [registry],
      }),
    ]),
  );
  const samples = cachedFor(milliseconds('metricsKept'), read);
  return async () => {
    const known = await within(milliseconds('metricsWait'), samples()).catch(() => undefined);
    up.set(known === undefined ? 0 : 1);
    for (const gauge of gauges.values()) gauge.reset();
    for (const { metric, labels, value } of known ?? []) gauges.get(metric)!.set(labels, value);
  };
}
