/**
 * Stops an attempt in which the platform refuses one record after another: then the mistake is probably not in the records,
 * and every batch would be halved down to single records, which takes two requests for each of them.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappedRecord } from '../../domain/records/record.js';
import { forgetLostParents } from '../parents/lost-parents.js';
import { parentsOf, undeliveredParents } from '../parents/parents.js';
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
  const { deps, partition } = context;
  const { refusals } = context.earlierChunks;
  if (refusals.taken > 0) return;
  const { refused } = refusals;
  // Once it is known that others were accepted before, nothing is looked up until the higher limit is reached.
  const areFew = (): boolean => refused.size < (refusals.acceptedBefore ? ALL_REFUSED_AFTER_OTHERS : ALL_REFUSED);
  refused.add(record);
  if (areFew()) return;
  await forgetLostParents(
    context,
    [...refused].flatMap((each) => parentsOf(context.mapping, each)),
  );
  for (const child of (await undeliveredParents(context, [...refused])).keys()) refused.delete(child);
  if (areFew()) return;
  refusals.acceptedBefore ??= await deps.ledger.counts.anyAccepted(partition.mappingId, partition.mappingVersion);
  if (refusals.taken > 0 || areFew()) return;
  refusals.stopped ??= new PartnerSyncError(
    'platform_refused',
    `the platform refused each of the first ${refused.size} records and took none: ${error.message}; ` +
      (refusals.acceptedBefore
        ? 'it has accepted others with the same mapping before, so correct these rows, or what has changed on the platform'
        : 'compare the mapping with the schema definition that was pushed'),
  );
  throw refusals.stopped;
}
