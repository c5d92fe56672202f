/** The background loops: they process accepted batches, let pending resources expire and delete old batches. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { milliseconds, seconds, times } from '../../domain/timeouts.js';
import { inTransaction } from '../database.js';
import type { SchemaStore } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { completePending, expirePending } from './check-pending.js';
import { deleteOldBatches } from './delete-old-batches.js';
import { isBatchDue, isDue, findWork, type WorkFound } from './find-work.js';
import { processBatch, type AcceptedBatch } from './process-batch.js';

/** Batch processing that runs in the background until it is stopped. */
export interface BatchWorkers {
  /**
   * Call this after storing a batch, so that a worker takes it at once, or after `processingDelay`, without waiting for
   * a poll.
   */
  notify(): void;
  /** Finishes the batches in progress; the others stay in the database for the next start. */
  stop(): Promise<void>;
}

/** Starts `settings.batchesAtOnce` workers, which also take the batches that an earlier process left behind. */
export function startBatchWorkers(
  pool: pg.Pool,
  schemas: SchemaStore,
  settings: SandboxSettings,
  logger: Logger,
): BatchWorkers {
  let stopping = false;
  const sleepers = new Set<() => void>();
  const timers = new Set<NodeJS.Timeout>();
  const signal = () => {
    for (const wakeUp of sleepers) wakeUp();
    sleepers.clear();
  };
  const signalAfter = (pause: number) => {
    if (stopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      signal();
    }, pause);
    timers.add(timer);
  };

  const work = async () => {
    while (!stopping) {
      // Registered before the query, so that a batch that arrives during it still wakes this worker.
      const woken = new Promise<void>((resolve) => sleepers.add(resolve));
      const found = await processNext(pool, schemas, settings).catch((error: unknown) => {
        logger.error({ reason: reasonOf(error) }, 'a batch could not be processed; it will be retried');
        signalAfter(milliseconds('sandboxBatchRetry'));
        return false;
      });
      if (!found && !stopping) await woken;
    }
  };

  /** What the periodic check does, in this order, if it has found something to do; and what the log says if it fails. */
  const checks: readonly { isNeeded: (found: WorkFound) => boolean; run: () => Promise<void>; failure: string }[] = [
    {
      isNeeded: () => settings.pending.completed === 'at_check',
      run: () => completePending(pool, { schemas, settings }),
      failure: 'pending resources whose parents have arrived could not be completed',
    },
    {
      isNeeded: ({ expired }) => expired,
      run: () => expirePending(pool, { schemas, settings }),
      failure: 'pending resources whose wait has elapsed could not be expired',
    },
    {
      isNeeded: ({ old }) => old,
      run: () => deleteOldBatches(pool, settings.batchRetention),
      failure: 'old batches could not be deleted',
    },
  ];
  /** Stops at the first failure; the next check begins anew. */
  const runChecks = async () => {
    let doing = 'the sandbox could not look for work';
    try {
      const found = await findWork(pool, settings);
      // Batches that are due here were left behind by another process on this database.
      if (found.batches) signal();
      for (const { isNeeded, run, failure } of checks) {
        doing = failure;
        if (isNeeded(found)) await run();
      }
    } catch (error) {
      logger.error({ reason: reasonOf(error) }, `${doing}; the next check retries`);
    }
  };
  let wakeChecker = () => {};
  const checkPeriodically = async () => {
    while (!stopping) {
      await runChecks();
      if (stopping) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, settings.expiryCheckInterval);
        wakeChecker = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };

  const loops = [...Array.from({ length: settings.batchesAtOnce }, work), checkPeriodically()];
  return {
    notify() {
      if (settings.processingDelay === 0) signal();
      // One extra millisecond: the database's clock decides when a batch is due, and it is finer than a timer.
      else signalAfter(settings.processingDelay + 1);
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      wakeChecker();
      signal();
      await Promise.all(loops);
    },
  };
}

/**
 * Processes the next batch that is due and that no other worker has locked; false when there is none. Batches of one
 * tenant never run side by side: `processBatch` takes the tenant's lock.
 */
async function processNext(pool: pg.Pool, schemas: SchemaStore, settings: SandboxSettings): Promise<boolean> {
  // A worker mostly finds nothing, and learns that without a transaction.
  if (!(await isBatchDue(pool, settings))) return false;
  let batch: AcceptedBatch | undefined;
  try {
    return await inTransaction(pool, async (db) => {
      const { rows } = await db.query<AcceptedBatch>({
        name: `next-batch-${settings.batchOrder}`,
        text: `select id, tenant_id, schema_id, on_conflict, ignore_unknown_fields, wait_seconds, payload, created_at
                 from sandbox.batches
                where ${isDue('$1')}
                order by sequence ${settings.batchOrder === 'newest_first' ? 'desc' : 'asc'} limit 1
                  for update skip locked`,
        values: [settings.processingDelay / 1000],
      });
      batch = rows[0];
      if (batch === undefined) return false;
      await processBatch({ db, schemas, settings }, batch);
      return true;
    });
  } catch (error) {
    if (batch !== undefined) await noteAttempt(pool, batch.id);
    throw error;
  }
}

/** Counts an internal failure and delays the retry; after the last attempt every record of the batch fails. */
async function noteAttempt(pool: pg.Pool, batchId: string): Promise<void> {
  await inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ attempts: number; total: number }>(
      `update sandbox.batches
          set attempts = attempts + 1, retry_at = clock_timestamp() + make_interval(secs => $2)
        where id = $1 and started_at is null returning attempts, total`,
      [batchId, seconds('sandboxBatchRetry')],
    );
    if (rows[0] === undefined || rows[0].attempts < times('sandboxBatchAttempts')) return;
    await db.query(
      `insert into sandbox.record_errors (batch_id, record_index, external_id, rule, reason)
       select $1, i, null, 'internal', 'the sandbox could not process this batch' from generate_series(0, $2 - 1) i`,
      [batchId, rows[0].total],
    );
    await db.query(
      `update sandbox.batches set failed = total, payload = null, started_at = clock_timestamp(),
              completed_at = clock_timestamp() where id = $1`,
      [batchId],
    );
  });
}

/** The message of an error. PostgreSQL's detail is left out, since it quotes values of rows. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
