/** The one place that wires: from environment variables to the parts, each opened when first asked for. */
import { setDefaultResultOrder } from 'node:dns';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Dependencies, OpenSync, Views } from '../activities/dependencies.js';
import type { ComposedSync, MappingIds } from './compose-sync.js';
import { readVariable, requireVariable, type Env } from './config/environment.js';
import { durationSeconds } from './domain/duration.js';
import { PartnerSyncError } from './domain/errors.js';
import type { SyncSpec } from './domain/sync.js';
import type { PlatformClient } from './platform/client.js';
import type { OpenReader } from './reading/reader.js';
import { startReadingThread } from './reading/thread/thread-reader.js';
import type { Ledger } from './state/ledger.js';
import type { LedgerView } from './state/ledger-view.js';
import { setEngineFlags } from './worker/engine-flags.js';

/** What looking needs of the parts: no way leads from here to a write. */
export interface ViewParts {
  readonly env: Env;
  /** Absolute path of the mappings folder. */
  mappingsFolder(): Promise<string>;
  /** Throws where there is none, or one of another version. */
  ledger(): Promise<LedgerView>;
  platform(): Promise<Views['platform']>;
  /** Loads a sync's files anew if they changed; throws `config_invalid` with all findings. */
  openSync(name: string, runId?: string): Promise<OpenSync>;
  close(): Promise<void>;
}

export interface LookingParts extends ViewParts {
  /** null where no state database is named or it holds no ledger yet: then nothing was sent. */
  ledgerIfAny(): Promise<LedgerView | null>;
}

export interface Parts extends ViewParts {
  ledger(): Promise<Ledger>;
  platform(): Promise<PlatformClient>;
  dependencies(): Promise<Dependencies>;
}

/** Loading these takes a third of a second, and there are commands that need none of them. */
const modules = {
  ledger: () => import('./state/ledger.js'),
  ledgerView: () => import('./state/ledger-view.js'),
  files: () => import('./mapping/load-sync.js'),
  sync: () => import('./compose-sync.js'),
  reader: () => import('./reading/reader.js'),
  platform: () => import('./platform/client.js'),
};

export interface Composing {
  /** How sources are read; in this thread, unless somebody says otherwise. */
  readonly read?: OpenReader;
  /** Is told, in sentences for people, why requests to the platform wait. */
  readonly notice?: Notice;
}

export type Notice = (message: string) => void;

export function compose(env: Env, composing: Composing = {}): Parts {
  const parts = assemble(env, async (url) => (await modules.ledger()).openLedger(url), composing);
  return {
    ...parts,
    dependencies: async () => ({
      ledger: await parts.ledger(),
      platform: await parts.platform(),
      openSync: parts.openSync,
    }),
  };
}

/** For a worker: sources are read, and their rows mapped, by a thread of its own. */
export async function composeWorker(env: Env, notice: Notice): Promise<Parts> {
  setEngineFlags();
  const thread = startReadingThread();
  // It will need them, and has a moment while the thread starts.
  await Promise.all([modules.ledger(), modules.files(), modules.sync()]);
  const parts = compose(env, { read: thread.openReader, notice });
  return {
    ...parts,
    async close() {
      await parts.close();
      await thread.close();
    },
  };
}

/** For commands that only look: the ledger is neither created nor updated, and its sessions are read-only. */
export function composeView(env: Env, { notice }: Pick<Composing, 'notice'> = {}): LookingParts {
  const parts = assemble(env, async (url) => (await modules.ledgerView()).openLedgerView(url), {
    mappingIds: async () => (await ledgerIfAny())?.catalog ?? NOTHING_SENT,
    ...(notice === undefined ? {} : { notice }),
  });
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

/** Without a ledger nothing was sent yet, and no row of it carries this id. */
const NOTHING_SENT: MappingIds = { mappingId: () => Promise.resolve(0) };

function assemble<L extends LedgerView>(
  env: Env,
  open: (stateUrl: string) => Promise<L>,
  { mappingIds, read, notice = () => undefined }: Composing & { readonly mappingIds?: () => Promise<MappingIds> },
) {
  setDefaultResultOrder('ipv4first');
  const closing: (() => Promise<void>)[] = [];
  const opened = <T extends { close(): Promise<void> }>(open: () => Promise<T>): (() => Promise<T>) => {
    let part: Promise<T> | undefined;
    return () => {
      if (part !== undefined) return part;
      const opening = open();
      part = opening;
      // Also one that is still being opened when everything is closed.
      closing.push(async () => (await opening).close());
      // A part that failed to open is tried again by the next caller.
      opening.catch(() => (part = undefined));
      return opening;
    };
  };
  const mappingsFolder = async (): Promise<string> => resolve(await requireVariable(env, 'PARTNER_SYNC_MAPPINGS'));
  const ledger = opened(async () => open(await requireVariable(env, 'PARTNER_SYNC_STATE_URL')));
  const platform = opened(() => openPlatform(env, notice));
  const syncs = new Map<string, { readonly signature: string; readonly sync: ComposedSync }>();

  const composed = async (spec: SyncSpec): Promise<ComposedSync> =>
    (await modules.sync()).composeSync(
      spec,
      mappingIds ?? (async () => (await ledger()).catalog),
      read ?? (await modules.reader()).openReader,
    );
  const load = async (name: string): Promise<ComposedSync> => {
    const folder = await mappingsFolder();
    // Checking a sync's files costs tens of milliseconds, and every activity asks for its sync.
    const signature = await folderSignature(join(folder, name));
    const known = syncs.get(name);
    if (known?.signature === signature) return known.sync;
    const spec = await (await modules.files()).loadSync(folder, name, env);
    const same = known?.sync.spec.version === spec.version && isDeepStrictEqual(known.sync.spec, spec);
    const sync = same ? known.sync : await composed(spec);
    if (!same) closing.push(() => sync.close());
    syncs.set(name, { signature, sync });
    return sync;
  };
  // One at a time: two activities that start together must share one source pool and one limit.
  let loading: Promise<unknown> = Promise.resolve();
  const openSync = async (name: string, runId = ''): Promise<OpenSync> => {
    const next = loading.then(() => load(name));
    loading = next.catch(() => undefined);
    return (await next).forRun(runId);
  };
  return {
    env,
    mappingsFolder,
    ledger,
    platform,
    openSync,
    async close() {
      await Promise.allSettled(closing.map((close) => close()));
    },
  };
}

async function openPlatform(env: Env, notice: Notice): Promise<PlatformClient> {
  const { PlatformClient } = await modules.platform();
  await requireVariable(env, 'PLATFORM_TOKEN');
  const named = async (variable: 'INCLUDE' | 'REFERENCE_FORMAT' | 'PENDING_DETAILS') =>
    requireVariable(env, `PLATFORM_PARAM_${variable}`);
  const scheme = await requireVariable(env, 'PLATFORM_AUTH_SCHEME');
  const wait = durationSeconds(await requireVariable(env, 'PLATFORM_TOKEN_WAIT'));
  return new PlatformClient({
    baseUrl: await requireVariable(env, 'PLATFORM_BASE_URL'),
    token: () => requireVariable(env, 'PLATFORM_TOKEN'),
    // The environment of a process does not change: a token that stands there is refused for good.
    tokenWait: env['PLATFORM_TOKEN'] ? 0 : wait * 1000,
    notice,
    // The table of variables allows no other.
    tokenScope: (await requireVariable(env, 'PLATFORM_TOKEN_SCOPE')) as 'platform' | 'tenant',
    authHeader: await requireVariable(env, 'PLATFORM_AUTH_HEADER'),
    authScheme: scheme === 'none' ? '' : scheme,
    parameterNames: {
      include: await named('INCLUDE'),
      referenceFormat: await named('REFERENCE_FORMAT'),
      includePendingDetails: await named('PENDING_DETAILS'),
    },
    connections: 16,
  });
}

/** Changes whenever a file of the folder does; empty where there is no folder, which loading then explains. */
async function folderSignature(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names.sort().map(async (name) => {
      const { mtimeMs, size } = await stat(join(folder, name));
      return `${name} ${mtimeMs} ${size}`;
    }),
  );
  return files.join('\n');
}
