/**
 * Makes sure that a worker has mapping files. One without them could only fail runs, so it does not start, or drains.
 */
import { readdir } from 'node:fs/promises';
import type { Dependencies } from '../delivery/dependencies.js';
import { PartnerSyncError } from '../domain/errors.js';
import { listSyncs, readSyncFolder } from '../mapping/sync-folder.js';

/** Throws `config_invalid` if the folder of the syncs is missing, cannot be read, or contains no sync. */
export async function assertSyncs(folder: string): Promise<void> {
  const refuse = (what: string): PartnerSyncError =>
    new PartnerSyncError(
      'config_invalid',
      `PARTNER_SYNC_MAPPINGS: ${folder} ${what}. A worker needs the same mapping files as all others of its task queue`,
    );
  await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code ?? 'unreadable'})`);
  });
  if ((await listSyncs(folder)).length === 0)
    throw refuse('contains no sync: a folder with a sync.yaml that can be read');
}

/** The mappings of all syncs in the folder, by the names of their files. */
export async function mappingsIn(folder: string): Promise<{ sync: string; mapping: string }[]> {
  const syncs = await listSyncs(folder);
  const files = await Promise.all(syncs.map((sync) => readSyncFolder(folder, sync)));
  return files.flatMap(({ mappings }, i) => [...mappings.keys()].map((mapping) => ({ sync: syncs[i]!, mapping })));
}

/**
 * The same dependencies, which also call `lost` if a sync is opened and the whole folder has disappeared, as when a
 * volume is unmounted. A folder that lacks only this sync is no reason to drain.
 */
export const withFolderWatched = (
  folder: string,
  dependencies: Dependencies,
  lost: (why: PartnerSyncError) => void,
): Dependencies => {
  const watched = async <T>(opening: Promise<T>): Promise<T> => {
    try {
      return await opening;
    } catch (error) {
      await assertSyncs(folder).catch(lost);
      throw error;
    }
  };
  return {
    ...dependencies,
    loadSync: (name) => watched(dependencies.loadSync(name)),
    openSync: (name, runId) => watched(dependencies.openSync(name, runId)),
  };
};
