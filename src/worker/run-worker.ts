/** Runs a worker: workflows from their bundle, activities wired to the outside, drained on the first signal. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, type LogEntry } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import type { Parts } from '../compose.js';
import { requireVariable } from '../config/environment.js';
import type { PartnerSyncError } from '../domain/errors.js';
import { compileLanguage } from '../mapping/language-schema.js';
import type { Logger } from '../observability/log.js';
import { assertSyncs, whileThere } from './mappings-folder.js';
import { temporalTarget, unreachable } from './temporal-connection.js';
import { createWorkers } from './workers.js';

/** Longer than a slice, so that draining needs to cancel nothing. */
const GRACE = '30s';

/** Milliseconds after which this thread has done its part of creating workers, and has a while to wait for the others. */
const IDLE_AFTER = 50;

/** Works until a signal asks it to drain; a second signal ends the process at once. */
export async function runWorker(parts: Parts, log: Logger, ready: (taskQueue: string) => void): Promise<void> {
  const target = temporalTarget(parts.env);
  const taskQueue = await requireVariable(parts.env, 'PARTNER_SYNC_TASK_QUEUE');
  const folder = await parts.mappingsFolder();
  await assertSyncs(folder);
  // Not sooner: without a connection that is closed again, the process would never end.
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => forward(log, entry)),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
  const dependencies = parts.dependencies();
  // It is met when it is awaited, once there is a connection.
  dependencies.catch(() => undefined);
  const connection = await NativeConnection.connect(
    target.connection as Parameters<typeof NativeConnection.connect>[0],
  ).catch((cause: unknown) => {
    throw unreachable(target.address, cause);
  });
  let lost: PartnerSyncError | undefined;
  let drain = (): void => undefined;
  try {
    const creating = createWorkers(
      taskQueue,
      createActivities(
        whileThere(folder, await dependencies, (why) => {
          lost ??= why;
          drain();
        }),
      ),
      {
        connection,
        namespace: target.namespace,
        shutdownGraceTime: GRACE,
        // Well under the heartbeat timeout; cancelling is learnt of with a heartbeat's answer, so it gets quicker too.
        maxHeartbeatThrottleInterval: '3s',
      },
      { ...workflowCode(), maxConcurrentActivityTaskExecutions: 16 },
    );
    setTimeout(compileLanguage, IDLE_AFTER);
    const workers = await creating;
    drain = () => workers.shutdown();
    forceOnSecondSignal(log);
    ready(taskQueue);
    await workers.run();
    if (lost !== undefined) throw lost;
  } finally {
    await connection.close();
  }
}

/** The bundle that the build made; from the sources (tests) it is bundled at start, which takes a second. */
function workflowCode(): { workflowBundle: { codePath: string } } | { workflowsPath: string } {
  const bundle = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  if (existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  return { workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)) };
}

function forceOnSecondSignal(log: Logger): void {
  let signals = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (++signals === 1) log.info({ signal }, 'draining; a second signal ends at once');
      else process.exit(130);
    });
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Temporal's own entries: their failures hold our codes and scrubbed messages only. */
function forward(log: Logger, entry: LogEntry): void {
  const { error, ...meta } = entry.meta ?? {};
  const failure = error instanceof Error ? { failure: error.name, message: error.message } : {};
  log[LEVELS[entry.level]]({ ...meta, ...failure }, entry.message);
}
