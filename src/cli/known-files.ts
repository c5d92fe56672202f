/** The files of a sync on this machine, which may only start runs: then a worker has them. */
import type { CommonParts } from '../composition/parts.js';
import { PartnerSyncError } from '../domain/errors.js';
import { mayWorkOnAnotherWorker } from '../domain/run/another-worker.js';
import type { SyncSpec } from '../domain/sync/sync.js';

/** The sync as the files here declare it; null if some of them, or their variables, are missing here. Throws `config_invalid`. */
export async function knownSpec(parts: CommonParts, sync: string): Promise<SyncSpec | null> {
  try {
    return (await parts.loadSync(sync)).spec;
  } catch (error) {
    if (error instanceof PartnerSyncError && mayWorkOnAnotherWorker(error)) return null;
    throw error;
  }
}

/** The same for what is only of use beside something else: null as well if the files are wrong; `check` says how. */
export async function specIfValid(parts: CommonParts, sync: string): Promise<SyncSpec | null> {
  try {
    return (await parts.loadSync(sync)).spec;
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'config_invalid') return null;
    throw error;
  }
}
