/**
 * Stops an attempt in which the platform refuses one record after another: then the mistake is probably not in the records,
 * and every batch would be halved down to single records, which takes two requests for each of them.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappedRecord } from '../../domain/record.js';
import { undeliveredParents } from '../parents/parents.js';
import type { PartitionContext } from '../partition-context.js';

/**
 * So many records of an attempt refused one by one, and not one batch taken, are not dead letters but a mistake that
 * concerns them all. If the platform takes a batch of another tenant, the run goes on for that tenant.
 */
const ALL_REFUSED = 20;

/**
 * The same if the platform has accepted records of the mapping before, made with the same files. Then it is more likely
 * that just these rows are wrong, as when they are the only ones that have changed, and they become dead letters.
 */
const ALL_REFUSED_AFTER_OTHERS = 500;

/**
 * Notes that the platform has refused a record by itself.
 *
 * @throws PartnerSyncError `platform_refused` once there are too many, not counting those that lack a parent. Other
 *   uploads of the attempt then throw the same before their next request.
 */
export async function stopIfAllRefused(
  context: PartitionContext,
  record: MappedRecord,
  error: PartnerSyncError,
): Promise<void> {
  const { deps, earlierChunks: attempt, partition } = context;
  if (attempt.anyTaken) return;
  attempt.refused.add(record);
  if (attempt.refused.size < ALL_REFUSED) return;
  for (const child of (await undeliveredParents(context, [...attempt.refused])).keys()) attempt.refused.delete(child);
  if (attempt.refused.size < ALL_REFUSED) return;
  const isNew = !(await deps.ledger.batches.anyAccepted(partition));
  const count = attempt.refused.size;
  if (attempt.anyTaken || count < (isNew ? ALL_REFUSED : ALL_REFUSED_AFTER_OTHERS)) return;
  attempt.stopped ??= new PartnerSyncError(
    'platform_refused',
    `the platform refused each of the first ${count} records and took none: ${error.message}; ` +
      (isNew
        ? 'compare the mapping with the schema definition that was pushed'
        : 'it has accepted others with the same mapping before, so correct these rows, or what has changed on the platform'),
  );
  throw attempt.stopped;
}
