/** Lets a sync deliver to one platform only: what the ledger knows of records and batches is of that one. */
import { PartnerSyncError } from '../../domain/errors.js';
import { otherPlatform } from '../../domain/run/other-platform.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import type { Dependencies } from '../dependencies.js';

/**
 * To be called before the run reads or sends anything. The first run of a sync decides which platform it delivers to.
 *
 * @throws PartnerSyncError `other_platform` if that is another one than this worker's; the run has failed then
 */
export async function assertSamePlatform(
  { ledger, platformAddress }: Pick<Dependencies, 'ledger' | 'platformAddress'>,
  run: RunRow,
): Promise<void> {
  const known = await ledger.platforms.claim(run, platformAddress);
  if (known === platformAddress) return;
  const error = new PartnerSyncError('other_platform', otherPlatform(run.sync, known, platformAddress));
  await ledger.runs.end(run.id, 'failed', error);
  throw error;
}
