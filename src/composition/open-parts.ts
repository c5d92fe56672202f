/** Creates the parts that are the same whether a process writes or only reads. */
import { resolve } from 'node:path';
import { requireVariable, type Env } from '../config/environment.js';
import { NO_METERS, type Meters } from '../domain/monitoring/meters.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import type { TenantRule } from '../domain/sync/sync.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import type { OpenReader } from '../reading/reader.js';
import type { MappingIds } from './compose-sync.js';
import type { InFleet } from './in-fleet.js';
import { openComposedSyncs } from './open-syncs.js';
import type { Warn } from './parts.js';

/** What a process can choose. */
export interface Composing {
  /** How sources are read; by default in this thread. */
  readonly read?: OpenReader;
  /** How the ledger is opened for writing; by default its tables are created or upgraded. */
  readonly openLedger?: (url: string) => Promise<Ledger>;
  /** Called with a sentence for people when requests to the platform have to wait. */
  readonly warn?: Warn;
  /** Told what the parts do; by default nobody is. */
  readonly meters?: Meters;
}

interface Closeable {
  close(): Promise<void>;
}

/** Opens the ledger for reading. */
export const openView = async (url: string): Promise<LedgerView> =>
  (await import('../ledger/ledger-view.js')).openLedgerView(url);

/**
 * Creates the parts. Each is opened at most once and closed by `close`; one that failed to open is tried again by the
 * next caller.
 */
export function openParts<L extends LedgerView>(
  env: Env,
  open: (stateUrl: string) => Promise<L>,
  {
    mappingIds,
    read,
    warn = () => undefined,
    meters = NO_METERS,
    onRetry = () => () => undefined,
    tenantsOfRun = (_runId, _sync, read) => read(),
  }: Composing & {
    readonly mappingIds?: () => Promise<MappingIds>;
    /** How a run tells tenants; `read` reads the list in the source. By default each process reads it itself. */
    readonly tenantsOfRun?: (runId: string, sync: string, read: () => Promise<TenantRule>) => Promise<TenantRule>;
    /** For each sync, what is told of its retries in place. */
    readonly onRetry?: (sync: string) => OnRetry;
  },
  join: (ledger: () => Promise<L>, isOpen: () => boolean, view: () => Promise<LedgerView>) => InFleet,
) {
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
  const platform = opened(async () =>
    (await import('./open-platform.js')).openPlatform(env, { warn, meters, retryAfter, accountLimit }),
  );
  const syncs = openComposedSyncs({
    env,
    mappingsFolder,
    filesOfRuns: async () => (await ledger()).filesOfRuns,
    compose: async (spec) =>
      (await import('./compose-sync.js')).composeSync(
        spec,
        mappingIds ?? (async () => (await ledger()).ids),
        read ?? (await import('../reading/reader.js')).openReader,
        meters,
        limits,
        onRetry(spec.name),
        (runId, read) => tenantsOfRun(runId, spec.name, read),
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
