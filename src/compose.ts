/** The composition root: builds the parts of a process from environment variables, each opened on first use. */
import { setDefaultResultOrder } from 'node:dns';
import { resolve } from 'node:path';
import type { Dependencies, OpenSync, Views } from './delivery/dependencies.js';
import { recordingInPlace } from './delivery/retries-in-place.js';
import type { MappingIds } from './compose-sync.js';
import { besideFleet, inFleet, type InFleet } from './compose-fleet.js';
import { openComposedSyncs } from './compose-syncs.js';
import { readVariable, requireVariable, type Env } from './config/environment.js';
import { tenantsIn } from './config/variable-checks.js';
import { durationSeconds } from './domain/duration.js';
import { PartnerSyncError } from './domain/errors.js';
import { NO_METERS, type Meters } from './domain/meters.js';
import type { LedgerSample } from './domain/metrics.js';
import type { OnRetry } from './domain/retries.js';
import type { LoadedSync } from './mapping/load-sync.js';
import type { Metrics } from './observability/prometheus.js';
import type { Tracing } from './observability/tracing/open-tracing.js';
import type { PlatformClient } from './platform/client.js';
import type { OpenReader } from './reading/reader.js';
import { startReadingThread } from './reading/thread/start-reading-thread.js';
import type { Ledger } from './ledger/ledger.js';
import type { LedgerView } from './ledger/ledger-view.js';
import { setEngineFlags } from './config/engine-flags.js';

/** The parts that every process has, seen as parts for reading: none can write to the ledger or the platform. */
export interface CommonParts {
  readonly env: Env;
  /** Absolute path of the mappings folder. */
  mappingsFolder(): Promise<string>;
  /** Throws `state_not_ready` if there is no ledger or one of another version, and `state_unreachable`. */
  ledger(): Promise<LedgerView>;
  /** Throws `config_invalid` if the platform's variables are missing or not valid. */
  platform(): Promise<Views['platform']>;
  /** Loads a sync's files, again if they have changed. Throws `config_invalid` with all findings. */
  loadSync(name: string): Promise<LoadedSync>;
  /** Opens a sync by its files as they are now, or by those of a run. Throws `config_invalid` with all findings. */
  openSync(name: string, runId?: string): Promise<OpenSync>;
  close(): Promise<void>;
}

/** The parts of a command that only reads. */
export interface ViewParts extends CommonParts {
  /** null if no state database is configured or it contains no ledger, which means that nothing was sent yet. */
  ledgerIfAny(): Promise<LedgerView | null>;
}

/** The parts of a worker, and of commands that write. */
export interface Parts extends CommonParts {
  ledger(): Promise<Ledger>;
  platform(): Promise<PlatformClient>;
  dependencies(): Promise<Dependencies>;
}

/** Loaded on first use: together they take a third of a second to load, and some commands need none of them. */
const modules = {
  ledger: () => import('./ledger/ledger.js'),
  ledgerView: () => import('./ledger/ledger-view.js'),
  alerting: () => import('./alerts/open-alerting.js'),
  files: () => import('./mapping/load-sync.js'),
  retention: () => import('./mapping/load-retention.js'),
  sync: () => import('./compose-sync.js'),
  reader: () => import('./reading/reader.js'),
  platform: () => import('./platform/client.js'),
  ledgerSamples: () => import('./compose-metrics.js'),
  metrics: () => import('./observability/prometheus.js'),
  tracing: () => import('./observability/tracing/open-tracing.js'),
};

/** What a process can choose. */
export interface Composing {
  /** How sources are read; by default in this thread. */
  readonly read?: OpenReader;
  /** Called with a sentence for people when requests to the platform have to wait. */
  readonly warn?: Warn;
  /** Told what the parts do; by default nobody is. */
  readonly meters?: Meters;
}

/** Receives a message for people. */
export type Warn = (message: string) => void;

/** Composes a process that may write: opening the ledger creates or upgrades its tables. */
export function compose(env: Env, composing: Composing = {}): Parts {
  const open = async (url: string): Promise<Ledger> =>
    (await modules.ledger()).openLedger(url, composing.meters?.ledger);
  const onRetry = recordingInPlace(async () => (await parts.ledger()).runs);
  const parts = assemble(env, open, { ...composing, onRetry }, (ledger, isOpen, view) =>
    inFleet(env, { open: ledger, isOpen, view }),
  );
  return {
    ...parts,
    dependencies: async () => ({
      ledger: await parts.ledger(),
      platform: await parts.platform(),
      loadSync: parts.loadSync,
      openSync: parts.openSync,
      alerting: (await modules.alerting()).openAlerting(env, parts.mappingsFolder),
      retentionOf: async (sync) => (await modules.retention()).loadRetention(await parts.mappingsFolder(), sync, env),
    }),
  };
}

/** The parts of a worker, and how it is monitored. */
export interface WorkerParts extends Parts {
  /** null if it serves none. */
  readonly metrics: Metrics | null;
  /** null if traces are off. */
  readonly tracing: Tracing | null;
}

/** Composes a worker, which reads and maps source rows in a separate thread. */
export async function composeWorker(env: Env, warn: Warn): Promise<WorkerParts> {
  setEngineFlags();
  // Before the thread starts: a variable that is wrong would leave it running, and the process with it.
  const metrics = await openWorkerMetrics(env, async (tenants) =>
    (await modules.ledgerSamples()).ledgerSamples(parts, tenants),
  );
  const tracing = (await modules.tracing()).openTracing(env, warn);
  const thread = startReadingThread();
  // The worker needs these modules anyway; they load while the thread starts.
  await Promise.all([modules.ledger(), modules.files(), modules.sync()]);
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
  const { openMetrics } = await modules.metrics();
  const named = await readVariable(env, 'PARTNER_SYNC_METRICS_TENANTS');
  const tenants = named ? tenantsIn(named) : [];
  const readsLedger = (await requireVariable(env, 'PARTNER_SYNC_METRICS_LEDGER')) === 'on';
  return openMetrics(readsLedger ? () => readLedger(tenants) : null);
}

/**
 * Composes a command that only reads: the ledger is neither created nor upgraded, and its sessions are read-only, except to
 * share the limits of requests with the others, and to tell them of a pause that the platform asks for.
 */
export function composeView(env: Env, { warn }: Pick<Composing, 'warn'> = {}): ViewParts {
  const composing = {
    mappingIds: async () => (await ledgerIfAny())?.ids ?? NOTHING_SENT,
    ...(warn === undefined ? {} : { warn }),
  };
  const parts = assemble(env, openView, composing, (view, isOpen) => besideFleet(env, { isOpen, view }));
  const ledgerIfAny = async (): Promise<LedgerView | null> => {
    if ((await readVariable(env, 'PARTNER_SYNC_STATE_URL')) === undefined) return null;
    try {
      return await parts.ledger();
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['absent'] === true) return null;
      throw error;
    }
  };
  return { ...parts, ledgerIfAny };
}

const openView = async (url: string): Promise<LedgerView> => (await modules.ledgerView()).openLedgerView(url);

interface Closeable {
  close(): Promise<void>;
}

/** Stands in for a missing ledger: no mapping has the id 0, so every record counts as not sent. */
const NOTHING_SENT: MappingIds = { mappingId: () => Promise.resolve(0) };

/**
 * Creates the parts. Each is opened at most once and closed by `close`; one that failed to open is tried again by the
 * next caller.
 */
function assemble<L extends LedgerView>(
  env: Env,
  open: (stateUrl: string) => Promise<L>,
  {
    mappingIds,
    read,
    warn = () => undefined,
    meters = NO_METERS,
    onRetry = () => () => undefined,
  }: Composing & {
    readonly mappingIds?: () => Promise<MappingIds>;
    /** For each sync, what is told of its retries in place. */
    readonly onRetry?: (sync: string) => OnRetry;
  },
  join: (ledger: () => Promise<L>, isOpen: () => boolean, view: () => Promise<LedgerView>) => InFleet,
) {
  setDefaultResultOrder('ipv4first');
  /** What is open, or being opened: a process that runs for months must not keep what it no longer uses. */
  const live = new Set<Closeable>();
  const opened = <T extends Closeable>(open: () => Promise<T>): (() => Promise<T>) => {
    let part: Promise<T> | undefined;
    return () => {
      if (part !== undefined) return part;
      const opening = open();
      part = opening;
      // This also closes a part that is still being opened when everything is closed.
      const closeable = { close: async () => (await opening).close() };
      live.add(closeable);
      // A part that failed to open is tried again by the next caller.
      opening.catch(() => {
        part = undefined;
        live.delete(closeable);
      });
      return opening;
    };
  };
  const mappingsFolder = async (): Promise<string> => resolve(await requireVariable(env, 'PARTNER_SYNC_MAPPINGS'));
  let isLedgerOpen = false;
  const ledger = opened(async () => {
    isLedgerOpen = true;
    return open(await requireVariable(env, 'PARTNER_SYNC_STATE_URL'));
  });
  const view = opened(async () => openView(await requireVariable(env, 'PARTNER_SYNC_STATE_URL')));
  const { retryAfter, limits, accountLimit, leave } = join(ledger, () => isLedgerOpen, view);
  const platform = opened(() => openPlatform(env, { warn, meters, retryAfter, accountLimit }));
  const syncs = openComposedSyncs({
    env,
    mappingsFolder,
    filesOfRuns: async () => (await ledger()).filesOfRuns,
    compose: async (spec) =>
      (await modules.sync()).composeSync(
        spec,
        mappingIds ?? (async () => (await ledger()).ids),
        read ?? (await modules.reader()).openReader,
        meters,
        limits,
        onRetry(spec.name),
      ),
  });
  live.add(syncs);
  return {
    env,
    mappingsFolder,
    ledger,
    platform,
    loadSync: (name: string) => syncs.load(name),
    openSync: (name: string, runId?: string) => syncs.open(name, runId),
    async close() {
      await leave();
      const closing = [...live];
      live.clear();
      await Promise.allSettled(closing.map((each) => each.close()));
    },
  };
}

/** Connections of a process to the platform. */
const CONNECTIONS = 16;

/**
 * Creates the platform client from the variables. The token is read again for each use, so that a renewed token file
 * takes effect.
 */
async function openPlatform(
  env: Env,
  {
    warn,
    meters,
    retryAfter,
    accountLimit,
  }: { readonly warn: Warn; readonly meters: Meters } & Pick<InFleet, 'retryAfter' | 'accountLimit'>,
): Promise<PlatformClient> {
  const { PlatformClient } = await modules.platform();
  await requireVariable(env, 'PLATFORM_TOKEN');
  const named = async (variable: 'INCLUDE' | 'REFERENCE_FORMAT' | 'PENDING_DETAILS') =>
    requireVariable(env, `PLATFORM_PARAM_${variable}`);
  const scheme = await requireVariable(env, 'PLATFORM_AUTH_SCHEME');
  const wait = durationSeconds(await requireVariable(env, 'PLATFORM_TOKEN_WAIT'));
  return new PlatformClient({
    baseUrl: await requireVariable(env, 'PLATFORM_BASE_URL'),
    token: () => requireVariable(env, 'PLATFORM_TOKEN'),
    // A token from the environment cannot be renewed while the process runs, so waiting for a new one is pointless.
    tokenWait: env['PLATFORM_TOKEN'] ? 0 : wait * 1000,
    warn,
    sharedRetryAfter: retryAfter,
    meter: meters.platform,
    // The table of variables admits no other value.
    tokenScope: (await requireVariable(env, 'PLATFORM_TOKEN_SCOPE')) as 'platform' | 'tenant',
    authHeader: await requireVariable(env, 'PLATFORM_AUTH_HEADER'),
    authScheme: scheme === 'none' ? '' : scheme,
    parameterNames: {
      include: await named('INCLUDE'),
      referenceFormat: await named('REFERENCE_FORMAT'),
      includePendingDetails: await named('PENDING_DETAILS'),
    },
    connections: CONNECTIONS,
    accountLimit: await accountLimit(CONNECTIONS),
  });
}
