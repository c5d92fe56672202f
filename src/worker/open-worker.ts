/** Opens a worker: workflows from their bundle, activities with their dependencies. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, type LogEntry } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import type { WorkerParts } from '../composition/compose-worker.js';
import { readVariable, requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { foreignText } from '../domain/values/foreign-text.js';
import { compileLanguage } from '../mapping/language/language-schema.js';
import { packageVersion } from '../config/package-version.js';
import type { WorkerLogger } from '../observability/worker-logger.js';
import { dataConverterOf } from './data-converter.js';
import { deploymentOf } from './deployment.js';
import { openReadiness } from './readiness.js';
import { serveMonitoring, type MonitoringServer } from './monitoring-server.js';
import { assertSyncs, mappingsIn, withFolderWatched } from './mappings-folder.js';
import { temporalTarget, unreachable } from './temporal-connection.js';
import { createWorkers } from './workers.js';
import { workflowBundle } from './workflow-bundle.js';
import { milliseconds } from '../domain/timeouts.js';

/** A worker that has taken no task yet. */
export interface OpenedWorker {
  readonly taskQueue: string;
  /** Works until it is drained; rejects with `config_invalid` when the mappings folder disappears. */
  run(): Promise<void>;
  /** Asks it to drain. */
  shutdown(): void;
  /** Ends its connections; call it once the worker does not run. */
  close(): Promise<void>;
}

/**
 * In its `own-process`, the worker is drained by signals. Its `host` has signal handlers of its own, and perhaps another use of
 * Temporal's native core, which can be set up only once in a process.
 */
export type WorkerPlace = 'own-process' | 'host';

/**
 * Connects and creates the workers. Throws `config_invalid` for a configuration that cannot work, and without a Temporal
 * server; nothing stays open then but `parts`.
 */
export async function openWorker(parts: WorkerParts, log: WorkerLogger, place: WorkerPlace): Promise<OpenedWorker> {
  const target = temporalTarget(parts.env);
  const taskQueue = await requireVariable(parts.env, 'PARTNER_SYNC_TASK_QUEUE');
  const deployment = await deploymentOf(parts.env, taskQueue, packageVersion());
  const dataConverter = await dataConverterOf(parts.env);
  const folder = await parts.mappingsFolder();
  await assertSyncs(folder);
  // Only once there is a connection to close again: otherwise the process would never end.
  await installRuntime(parts.env, log, place);
  const dependencies = parts.dependencies();
  // Its rejection is handled where it is awaited, once there is a connection.
  dependencies.catch(() => undefined);
  const connection = await NativeConnection.connect(
    target.connection as Parameters<typeof NativeConnection.connect>[0],
  ).catch((cause: unknown) => {
    throw unreachable(target.address, cause);
  });
  let lost: PartnerSyncError | undefined;
  let drain = (): void => undefined;
  let arePolling = (): boolean => false;
  let monitoring: MonitoringServer | null = null;
  const close = async (): Promise<void> => {
    await monitoring?.close();
    await connection.close();
  };
  const pingTemporal = () =>
    connection.withDeadline(Date.now() + milliseconds('readySilence'), () =>
      connection.workflowService.getSystemInfo({}),
    );
  try {
    monitoring = await monitor(parts, folder, () => arePolling(), pingTemporal);
    const opened = await dependencies;
    const activitiesOf = (isDraining: () => boolean) =>
      createActivities(
        withFolderWatched(folder, { ...opened, isDraining }, (why) => {
          lost ??= why;
          drain();
        }),
      );
    const creating = createWorkers(
      taskQueue,
      activitiesOf,
      {
        connection,
        namespace: target.namespace,
        ...(dataConverter && { dataConverter }),
        shutdownGraceTime: milliseconds('workerDrain'),
        // Well below the heartbeat timeout; cancellation, which arrives with a heartbeat's response, is faster, too.
        maxHeartbeatThrottleInterval: milliseconds('heartbeatThrottle'),
        ...parts.tracing?.worker,
      },
      { workflowBundle: await workflowBundle(parts.tracing !== null) },
      deployment,
    );
    // This thread has done its part of creating the workers, and waits for the others.
    setTimeout(compileLanguage, milliseconds('workerIdle'));
    const workers = await creating;
    drain = () => workers.shutdown();
    arePolling = () => workers.arePolling();
    return {
      taskQueue,
      shutdown: () => workers.shutdown(),
      async run() {
        await workers.run();
        if (lost !== undefined) throw lost;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Serves metrics and probes if the worker has any; they answer from before its first task until it is drained. */
async function monitor(
  parts: WorkerParts,
  folder: string,
  arePolling: () => boolean,
  pingTemporal: () => Promise<unknown>,
): Promise<MonitoringServer | null> {
  if (parts.metrics === null) return null;
  parts.metrics.begin(await mappingsIn(folder));
  const address = {
    host: await requireVariable(parts.env, 'PARTNER_SYNC_METRICS_HOST'),
    port: Number(await requireVariable(parts.env, 'PARTNER_SYNC_METRICS_PORT')),
  };
  const readiness = openReadiness(arePolling, [
    { name: 'The ledger', ping: async () => (await parts.ledger()).gauges.ping() },
    { name: 'Temporal', ping: pingTemporal },
  ]);
  return serveMonitoring(address, parts.metrics, readiness);
}

/** Sets up Temporal's core. Its metrics have a port of their own, as it takes no registry of ours. A host may have set it up. */
async function installRuntime(env: Env, log: WorkerLogger, place: WorkerPlace): Promise<void> {
  const port = await readVariable(env, 'PARTNER_SYNC_TEMPORAL_METRICS_PORT');
  const host = await requireVariable(env, 'PARTNER_SYNC_METRICS_HOST');
  const prometheus = {
    bindAddress: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    // Prometheus' own conventions, which the SDK follows only if asked to.
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  };
  try {
    Runtime.install({
      ...(place === 'host' && { shutdownSignals: [] }),
      logger: new DefaultLogger('INFO', (entry) => forward(log, entry)),
      telemetryOptions: {
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
        ...(port ? { metrics: { prometheus } } : {}),
      },
    });
  } catch (cause) {
    if (place === 'host' && cause instanceof IllegalStateError) return;
    if (!port) throw cause;
    const where = `PARTNER_SYNC_METRICS_HOST and PARTNER_SYNC_TEMPORAL_METRICS_PORT: ${prometheus.bindAddress}`;
    const why = cause instanceof Error ? foreignText(cause.message, 300) : 'unknown error';
    throw new PartnerSyncError('config_invalid', `${where} cannot be used (${why})`, {}, { cause });
  }
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Temporal's own log entries, as ours: failures in them have our codes and scrubbed messages only. */
function forward(log: WorkerLogger, entry: LogEntry): void {
  const { error, ...meta } = entry.meta ?? {};
  const failure = error instanceof Error ? { failure: error.name, message: error.message } : {};
  log[LEVELS[entry.level]]({ ...meta, ...failure }, entry.message);
}
