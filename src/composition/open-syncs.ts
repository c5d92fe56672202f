/**
 * The syncs that a process has open: as their files are on disk now, and as open runs began with them. Those with the
 * same files are one, with one source and one limit.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComposedSync } from './compose-sync.js';
import type { Env } from '../config/environment.js';
import { platformAddress } from '../config/platform-address.js';
import { otherPlatform } from '../domain/run/other-platform.js';
import type { OpenSync } from '../delivery/dependencies.js';
import { ON_ANOTHER_WORKER } from '../domain/run/another-worker.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { KeptFiles, SyncFiles } from '../domain/sync/sync-files.js';
import type { SyncSpec } from '../domain/sync/sync.js';
import { milliseconds } from '../domain/timeouts.js';
import type { FilesOfRuns } from '../ledger/runs/sync-files.js';
import type { LoadedSync } from '../mapping/load-sync.js';

/** Opens syncs; each method throws `config_invalid` with all findings. */
export interface ComposedSyncs {
  /** The sync as its files are now; they are read again if they have changed. */
  load(name: string): Promise<LoadedSync>;
  /** The same, open; with the id of a run as that run began with it, whatever is on disk. */
  open(name: string, runId?: string): Promise<OpenSync>;
  /** Closes all. */
  close(): Promise<void>;
}

/** What syncs are opened with. */
export interface SyncParts {
  readonly env: Env;
  readonly mappingsFolder: () => Promise<string>;
  readonly filesOfRuns: () => Promise<FilesOfRuns>;
  readonly compose: (spec: SyncSpec) => Promise<ComposedSync>;
}

/** Runs whose files are remembered; those of others are read from the ledger again. */
const RUNS_KEPT = 64;

/** Loaded on first use: they take long to load, and some commands need none of them. */
const modules = {
  files: () => import('../mapping/load-sync.js'),
  kept: () => import('../mapping/kept-files.js'),
};

interface Composed {
  readonly sync: ComposedSync;
  /** Will close it, unless it is what is on disk. */
  closing?: NodeJS.Timeout;
}

interface OnDisk {
  readonly signature: string;
  readonly key: string;
  readonly loaded: LoadedSync;
}

export function openComposedSyncs({ env, mappingsFolder, filesOfRuns, compose }: SyncParts): ComposedSyncs {
  /** By name and content of the files. */
  const composed = new Map<string, Composed>();
  const onDisk = new Map<string, OnDisk>();
  const ofRuns = new Map<string, KeptFiles>();

  const keyOf = async (name: string, files: SyncFiles): Promise<string> => {
    const { filesOfRun, hashOfFiles } = await modules.kept();
    return `${name} ${hashOfFiles(filesOfRun(files))}`;
  };
  /** Closes a sync that is not on disk once the last activity that may have begun with it is over. */
  const retire = (key: string): void => {
    const entry = composed.get(key);
    if (entry === undefined) return;
    clearTimeout(entry.closing);
    if ([...onDisk.values()].some((each) => each.key === key)) return;
    const close = async (): Promise<void> => {
      composed.delete(key);
      await entry.sync.close();
    };
    // A source that cannot be closed cannot be used either.
    entry.closing = setTimeout(() => void close().catch(() => undefined), milliseconds('longActivityAttempt')).unref();
  };
  const composedFor = async (key: string, spec: () => SyncSpec | Promise<SyncSpec>): Promise<ComposedSync> => {
    const sync = composed.get(key)?.sync ?? (await compose(await spec()));
    if (!composed.has(key)) composed.set(key, { sync });
    retire(key);
    return sync;
  };
  const load = async (name: string): Promise<OnDisk> => {
    const folder = await mappingsFolder();
    // Checking a sync's files costs tens of milliseconds, and every run and many queries ask for their sync.
    const signature = await folderSignature(join(folder, name));
    const known = onDisk.get(name);
    if (known?.signature === signature) return known;
    const loaded = await (await modules.files()).loadSync(folder, name, env);
    const now = { signature, loaded, key: await keyOf(name, loaded.files) };
    onDisk.set(name, now);
    if (known !== undefined) retire(known.key);
    return now;
  };
  const openOnDisk = async (name: string): Promise<OpenSync> => {
    const { key, loaded } = await load(name);
    return { ...(await composedFor(key, () => loaded.spec)).now(), spec: loaded.spec };
  };
  const filesOf = async (name: string, runId: string): Promise<KeptFiles> => {
    const kept = ofRuns.get(runId) ?? (await filesFromLedger(name, runId));
    ofRuns.delete(runId);
    ofRuns.set(runId, kept);
    if (ofRuns.size > RUNS_KEPT) ofRuns.delete(ofRuns.keys().next().value!);
    return kept;
  };
  /** A worker of another platform would take up the run's batches and find none of them. */
  const filesFromLedger = async (name: string, runId: string): Promise<KeptFiles> => {
    const { platform, ...kept } = await (await filesOfRuns()).ofRun(runId);
    if (platform === null) return kept;
    const address = await platformAddress(env);
    if (platform === address) return kept;
    throw new PartnerSyncError('other_platform', otherPlatform(name, platform, address), ON_ANOTHER_WORKER);
  };
  const openForRun = async (name: string, runId: string, kept: KeptFiles): Promise<OpenSync> => {
    const [{ completedFiles, variablesOf }, { loadKeptSync, parsedSyncFile }] = await Promise.all([
      modules.kept(),
      modules.files(),
    ]);
    const files = await completedFiles(name, kept.files, async () => parsedSyncFile(await mappingsFolder(), name));
    const sync = await composedFor(await keyOf(name, files), () => loadKeptSync(name, files, env, mappingsFolder));
    if (sync.spec.version === kept.version) return sync.forRun(runId);
    const message = `a variable of ${name} has another value here than where run ${runId} began: one of ${variablesOf(files).join(', ')}`;
    throw new PartnerSyncError('config_invalid', message, ON_ANOTHER_WORKER);
  };

  // One at a time: two activities that start together must share one source pool and one limit.
  let last: Promise<unknown> = Promise.resolve();
  const oneByOne = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    load: (name) => oneByOne(async () => (await load(name)).loaded),
    async open(name, runId) {
      if (runId === undefined) return oneByOne(() => openOnDisk(name));
      const kept = await filesOf(name, runId);
      return oneByOne(() => openForRun(name, runId, kept));
    },
    async close() {
      await last;
      const all = [...composed.values()];
      composed.clear();
      for (const { closing } of all) clearTimeout(closing);
      await Promise.allSettled(all.map(({ sync }) => sync.close()));
    },
  };
}

/** Changes whenever a file in the folder does; empty if the folder is missing, which loading then reports. */
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
