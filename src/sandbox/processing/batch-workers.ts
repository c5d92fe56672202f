/** The loops that take accepted batches from the database, process them, let pending resources expire and forget old batches. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { inTransaction } from '../database.js';
import type { SchemaStore } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { forgetOldBatches } from './old-batches.js';
import { lookAfterPending } from './look-after-pending.js';
import { processBatch, type AcceptedBatch } from './process-batch.js';

export interface BatchWorkers {
  /** A batch was stored: a loop takes it at once (after `processingDelay`), without waiting for a poll. */
  wake(): void;
  /** Finishes the batches in work; the others stay in the database for the next start. */
  stop(): Promise<void>;
}

/** After so many failures of the sandbox itself a batch is failed as a whole, so that it cannot block its followers. */
const MAX_ATTEMPTS = 5;
const RETRY_SECONDS = 1;

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
  const signalAfter = (milliseconds: number) => {
    if (stopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      signal();
    }, milliseconds);
    timers.add(timer);
  };

  const work = async () => {
    while (!stopping) {
      // Registered before looking, so that a batch which arrives during the look is not slept through.
      const woken = new Promise<void>((resolve) => sleepers.add(resolve));
      const found = await processNext(pool, schemas, settings).catch((error: unknown) => {
        logger.error({ reason: reasonOf(error) }, 'a batch could not be processed; it is tried again');
        signalAfter(RETRY_SECONDS * 1000);
        return false;
      });
      if (!found && !stopping) await woken;
    }
  };

  const tidy = async () => {
    await lookAfterPending(pool, { schemas, settings });
    await forgetOldBatches(pool, settings.batchRetention);
  };
  let stopExpiry = () => {};
  const expire = async () => {
    while (!stopping) {
      await tidy().catch((error: unknown) =>
        logger.error({ reason: reasonOf(error) }, 'pending resources could not be expired; it is tried again'),
      );
      if (stopping) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, settings.expiryCheckInterval);
        stopExpiry = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      // Also finds what another process that shares the database left behind.
      signal();
    }
  };

  const loops = [...Array.from({ length: settings.batchesAtOnce }, work), expire()];
  return {
    wake() {
      if (settings.processingDelay === 0) signal();
      // One more millisecond: the database's clock decides, and it counts finer than a timer.
      else signalAfter(settings.processingDelay + 1);
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      stopExpiry();
      signal();
      await Promise.all(loops);
    },
  };
}

/** Processes the oldest batch that nobody holds; false when there is none. */
async function processNext(pool: pg.Pool, schemas: SchemaStore, settings: SandboxSettings): Promise<boolean> {
  let batch: AcceptedBatch | undefined;
  try {
    return await inTransaction(pool, async (db) => {
      const { rows } = await db.query<AcceptedBatch>({
        name: `next-batch-${settings.batchOrder}`,
        text: `select id, tenant_id, schema_id, on_conflict, ignore_unknown_fields, wait_seconds, payload, created_at
                 from sandbox.batches
                where started_at is null and retry_at <= clock_timestamp()
                  and created_at <= clock_timestamp() - make_interval(secs => $1)
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

async function noteAttempt(pool: pg.Pool, batchId: string): Promise<void> {
  await inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ attempts: number; total: number }>(
      `update sandbox.batches
          set attempts = attempts + 1, retry_at = clock_timestamp() + make_interval(secs => $2)
        where id = $1 and started_at is null returning attempts, total`,
      [batchId, RETRY_SECONDS],
    );
    if (rows[0] === undefined || rows[0].attempts < MAX_ATTEMPTS) return;
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

/** The words of an error without PostgreSQL's detail, which quotes values of rows. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
