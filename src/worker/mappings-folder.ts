/** A worker without mapping files would take runs up only to fail them: it does not start, or drains. */
import { readdir } from 'node:fs/promises';
import type { Dependencies } from '../../activities/dependencies.js';
import { PartnerSyncError } from '../domain/errors.js';
import { listSyncs } from '../mapping/sync-folder.js';

/** Throws `config_invalid` where the folder of the syncs is not there, cannot be read, or holds no sync. */
export async function assertSyncs(folder: string): Promise<void> {
  const refuse = (what: string): PartnerSyncError =>
    new PartnerSyncError(
      'config_invalid',
      `PARTNER_SYNC_MAPPINGS: ${folder} ${what}. A worker needs the same mapping files as all others of its task queue`,
    );
  await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code ?? 'unreadable'})`);
  });
  if ((await listSyncs(folder)).length === 0) throw refuse('holds no sync: a folder with a sync.yaml that can be read');
}

/** The same dependencies; `lost` is told when a sync was asked for and the whole folder is gone by now. */
export const whileThere = (
  folder: string,
  dependencies: Dependencies,
  lost: (why: PartnerSyncError) => void,
): Dependencies => ({
  ...dependencies,
  async openSync(name, runId) {
    try {
      return await dependencies.openSync(name, runId);
    } catch (error) {
      await assertSyncs(folder).catch(lost);
      throw error;
    }
  },
});
