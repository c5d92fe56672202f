/** A worker inside a program of its user's. */
import type { Env } from '../config/environment.js';
import type { WorkerLogger } from '../observability/worker-logger.js';

/** Settings of {@link createWorker}. */
export interface CreateWorkerOptions {
  /**
   * The environment variables of docs/configuration.md, and those that the mappings name; by default `process.env`. No file
   * `.env` is read.
   */
  readonly env?: Env;
  /** By default, nothing is logged. Entries contain no secret and no value of a row. */
  readonly logger?: WorkerLogger;
}

/** A worker that carries out runs in this process. */
export interface EmbeddedWorker {
  /** The task queue that it takes tasks from. */
  readonly taskQueue: string;
  /**
   * Works until {@link EmbeddedWorker.shutdown} has drained it. Rejects with `config_invalid` if the mappings folder disappears.
   * Call it once.
   */
  run(): Promise<void>;
  /**
   * Drains the worker, if it runs: it finishes what it has begun, for a minute at most. Resolves once all its connections are
   * closed.
   */
  shutdown(): Promise<void>;
}

/**
 * Creates a worker with its ledger, its source's thread and its connection to Temporal; the ledger's tables are created or
 * upgraded. It installs no signal handlers, writes to neither stdout nor stderr, and ends no process.
 *
 * Temporal's native core is set up if this process has not done so yet. One that is there already keeps its logger and its
 * signal handlers.
 *
 * @throws PartnerSyncError `config_invalid` for a variable or a folder that cannot be used, or without a Temporal server;
 *   `state_unreachable` or another code of the ledger without its database. Nothing stays open then.
 */
export async function createWorker({
  env = process.env,
  logger = SILENT,
}: CreateWorkerOptions = {}): Promise<EmbeddedWorker> {
  const [{ composeWorker }, { openWorker }] = await Promise.all([
    import('../composition/compose-worker.js'),
    import('../worker/open-worker.js'),
  ]);
  const parts = await composeWorker(env, (message) => logger.warn({}, message));
  try {
    const worker = await openWorker(parts, logger, 'host');
    let running: Promise<void> | undefined;
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> =>
      (closing ??= (async () => {
        await worker.close();
        await parts.close();
      })());
    const worked = async (): Promise<void> => {
      try {
        await worker.run();
      } finally {
        await close();
      }
    };
    const run = (): Promise<void> => (running ??= worked());
    return {
      taskQueue: worker.taskQueue,
      run,
      async shutdown() {
        // A worker that has never run can only be given up by running it.
        const ended = run();
        worker.shutdown();
        await ended.catch(() => undefined);
        await close();
      },
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

const ignore = (): void => undefined;
const SILENT: WorkerLogger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
