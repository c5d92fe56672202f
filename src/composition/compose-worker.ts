/** Composes a worker: the parts of a process that may write, a thread that reads the source, metrics and traces. */
import { readVariable, requireVariable, type Env } from '../config/environment.js';
import { tenantsIn } from '../config/variable-checks.js';
import { NO_METERS } from '../domain/monitoring/meters.js';
import type { Metrics } from '../observability/prometheus.js';
import { openTracing, type Tracing } from '../observability/tracing/open-tracing.js';
import type { LedgerSample } from '../domain/monitoring/metrics.js';
import { startReadingThread } from '../reading/thread/start-reading-thread.js';
import { compose } from './compose.js';
import type { Parts, Warn } from './parts.js';

/** The parts of a worker, and how it is monitored. */
export interface WorkerParts extends Parts {
  /** null if it serves none. */
  readonly metrics: Metrics | null;
  /** null if traces are off. */
  readonly tracing: Tracing | null;
}

/** Composes a worker, which reads and maps source rows in a separate thread. */
export async function composeWorker(env: Env, warn: Warn): Promise<WorkerParts> {
  // Before the thread starts: a variable that is wrong would leave it running, and the process with it.
  const metrics = await openWorkerMetrics(env, async (tenants) =>
    (await import('./ledger-samples.js')).ledgerSamples(parts, tenants),
  );
  const tracing = openTracing(env, warn);
  const thread = startReadingThread();
  // The worker needs these modules anyway; they load while the thread starts.
  await Promise.all([import('../ledger/ledger.js'), import('../mapping/load-sync.js'), import('./compose-sync.js')]);
  const meters = metrics?.meters ?? NO_METERS;
  const parts = compose(env, { read: thread.openReader, warn, meters: tracing?.over(meters) ?? meters });
  return {
    ...parts,
    metrics,
    tracing,
    async close() {
      await parts.close();
      await thread.close();
      await tracing?.close();
    },
  };
}

/** The metrics of a worker that serves them; `readLedger` reads those of the ledger, unless that is switched off. */
async function openWorkerMetrics(
  env: Env,
  readLedger: (tenants: readonly string[]) => Promise<readonly LedgerSample[]>,
): Promise<Metrics | null> {
  if (!(await readVariable(env, 'PARTNER_SYNC_METRICS_PORT'))) return null;
  const { openMetrics } = await import('../observability/prometheus.js');
  const named = await readVariable(env, 'PARTNER_SYNC_METRICS_TENANTS');
  const tenants = named ? tenantsIn(named) : [];
  const readsLedger = (await requireVariable(env, 'PARTNER_SYNC_METRICS_LEDGER')) === 'on';
  return openMetrics(readsLedger ? () => readLedger(tenants) : null, tenants);
}
