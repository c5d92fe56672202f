/** A run keeps to the version of the files that it began with; a worker with other files leaves it to another one. */
import { ELSEWHERE } from '../src/domain/elsewhere.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { SyncSpec } from '../src/domain/sync.js';

export function assertVersion(run: string, version: string, { name, version: here }: SyncSpec): void {
  if (version !== here)
    throw new PartnerSyncError(
      'mapping_changed',
      `run ${run} began with version ${version} of ${name}, the files are now ${here}`,
      ELSEWHERE,
    );
}
