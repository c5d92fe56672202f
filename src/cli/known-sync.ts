/**
 * Checks the names of a sync and its mappings: a misspelled one would look like a sync of which nothing is known yet.
 */
import { PartnerSyncError } from '../domain/errors.js';
import { nearest } from '../domain/values/names.js';
import { unknownMapping } from '../domain/sync/unknown-mapping.js';
import { listSyncs, readSyncFolder } from '../mapping/sync-folder.js';
import type { CommonParts } from '../composition/parts.js';

/**
 * Throws `input_invalid` for an unknown name, with the names that exist. If the mappings folder has no sync at all, as
 * on a machine that only starts runs, every name is accepted: the worker will check it.
 */
export async function assertKnown(parts: CommonParts, sync: string, mappings: readonly string[] = []): Promise<void> {
  const folder = await parts.mappingsFolder();
  const syncs = await listSyncs(folder);
  if (syncs.length === 0) return;
  if (!syncs.includes(sync)) throw unknownSync(folder, sync, syncs);
  const known = [...(await readSyncFolder(folder, sync)).mappings.keys()];
  const unknown = mappings.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownMapping(sync, unknown, known);
}

function unknownSync(folder: string, name: string, known: readonly string[]): PartnerSyncError {
  const near = nearest(name, known);
  const hint = near === undefined ? '.' : `; did you mean "${near}"?`;
  return new PartnerSyncError(
    'input_invalid',
    `there is no sync "${name}" in ${folder}${hint} There are: ${known.join(', ')}`,
  );
}
