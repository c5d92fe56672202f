/** Why a run in mode `live` ends, and another one begins in its place. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { FollowChangesInput, NewBeginning } from '../../domain/run/work.js';
import type { Dependencies } from '../dependencies.js';
import { detectSchemaDrift } from '../run/schema-drift.js';

/** Whether a run that began now would have other files, or leave out other mappings; null if neither. */
export async function newBeginning(deps: Dependencies, input: FollowChangesInput): Promise<NewBeginning | null> {
  if (await haveFilesChanged(deps, input)) return 'files_changed';
  return (await hasSourceChanged(deps, input)) ? 'source_changed' : null;
}

/** Files that cannot be used are left until they can. */
async function haveFilesChanged(deps: Dependencies, { sync, runId }: FollowChangesInput): Promise<boolean> {
  const { version } = (await deps.openSync(sync, runId)).spec;
  try {
    return (await deps.loadSync(sync)).spec.version !== version;
  } catch (error) {
    if (error instanceof PartnerSyncError) return false;
    throw error;
  }
}

async function hasSourceChanged(
  deps: Dependencies,
  { sync, runId, polled, skipped }: FollowChangesInput,
): Promise<boolean> {
  const drift = await detectSchemaDrift(deps, { sync, runId, mappings: [...polled, ...skipped], accept: false });
  const leftOut = drift.skipped.map(({ mapping }) => mapping);
  return leftOut.length !== skipped.length || leftOut.some((mapping) => !skipped.includes(mapping));
}
