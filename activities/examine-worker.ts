/** Tells how the worker that is asked stands towards a sync: its files and variables, and what it can reach. Only looks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { WorkerState, WorkerTrouble } from '../src/domain/work.js';
import type { Dependencies, OpenSync } from './dependencies.js';

/** Milliseconds that each part is given: an answer without one part is worth more than none. */
const PATIENCE = 8_000;
/** One that there cannot be: a request that any token may make, and that changes nothing. */
const NO_BATCH = '00000000-0000-4000-8000-000000000000';

export async function examineWorker(deps: Dependencies, name: string | null): Promise<WorkerState> {
  const troubles: WorkerTrouble[] = [];
  const tried = async <T>(part: WorkerTrouble['part'], work: () => Promise<T>): Promise<T | null> => {
    try {
      return await within(work());
    } catch (error) {
      // What nobody foresaw may quote anything: its kind is enough to look further.
      const known = error instanceof PartnerSyncError;
      troubles.push({ part, code: known ? error.code : 'unexpected', message: known ? error.message : nameOf(error) });
      return null;
    }
  };
  const [sync] = await Promise.all([
    name === null ? null : tried('files', () => deps.openSync(name)),
    tried('ledger', () => deps.ledger.runs.latest(name ?? undefined, 1)),
  ]);
  if (sync !== null)
    await Promise.all([tried('source', () => sync.source.server()), tried('platform', () => ask(deps, sync))]);
  return { version: sync?.spec.version ?? null, troubles };
}

async function ask({ platform }: Dependencies, sync: OpenSync): Promise<void> {
  const [tenant] = await sync.tenants();
  if (tenant !== undefined) await platform.findBatch(NO_BATCH, { tenant });
}

async function within<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const limit = sleep(PATIENCE, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new PartnerSyncError('unexpected', `no answer within ${PATIENCE / 1000} seconds`);
  });
  limit.catch(() => undefined);
  work.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort();
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
