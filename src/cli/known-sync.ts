/** Whether a sync and its mappings are there: a slip in a name would look like a sync of which nothing is known. */
import { PartnerSyncError } from '../domain/errors.js';
import { nearest } from '../domain/names.js';
import { listSyncs, readSyncFolder } from '../mapping/sync-folder.js';
import type { ViewParts } from '../compose.js';

/**
 * Throws `input_invalid` with the names that there are. Where the mappings folder holds no sync at all, as on a machine
 * that only starts runs, every name is taken: the worker knows.
 */
export async function assertKnown(parts: ViewParts, sync: string, mappings: readonly string[] = []): Promise<void> {
  const folder = await parts.mappingsFolder();
  const syncs = await listSyncs(folder);
  if (syncs.length === 0) return;
  if (!syncs.includes(sync)) throw unknown(`there is no sync "${sync}" in ${folder}`, sync, syncs);
  const known = [...(await readSyncFolder(folder, sync)).mappings.keys()];
  const slip = mappings.find((name) => !known.includes(name));
  if (slip !== undefined) throw unknown(`sync ${sync} has no mapping "${slip}"`, slip, known);
}

function unknown(what: string, name: string, known: readonly string[]): PartnerSyncError {
  const near = nearest(name, known);
  const hint = near === undefined ? '.' : `; did you mean "${near}"?`;
  return new PartnerSyncError('input_invalid', `${what}${hint} There are: ${known.join(', ')}`);
}
