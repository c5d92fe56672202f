/** Reads records back to tell which of them the platform has stored. */
import { differingField } from '../../domain/records/compare.js';
import { marksAsDeleted, type MappedRecord } from '../../domain/records/record.js';
import type { Pace } from '../../platform/pace.js';
import { allEnded } from '../all-ended.js';
import type { PartitionContext } from '../partition-context.js';

/**
 * Those of the records that the platform has not stored as they were sent.
 *
 * @param isProcessed whether it is done with all batches of the records: then a mark needs no record
 */
export async function notStored(
  { deps, sync, mapping, effort, signal }: PartitionContext,
  tenant: string,
  records: readonly MappedRecord[],
  { isProcessed }: { readonly isProcessed: boolean },
): Promise<MappedRecord[]> {
  const { platform } = deps;
  const schema = mapping.spec.schema.name;
  const isStored = async (record: MappedRecord, pace: Pace): Promise<boolean> => {
    const options = { tenant, signal, pace, onRetry: sync.onRetry, onEnd: effort.requestEnded };
    const stored = await platform.findResource(schema, record.externalId, options);
    if (stored === null) return isProcessed && marksAsDeleted(record);
    return differingField(record.data, stored.result.data, mapping.referenceFields) === null;
  };
  const stored = await allEnded(
    records.map((record) => sync.requestLimit.run({ queue: tenant, signal }, (pace) => isStored(record, pace))),
  );
  return records.filter((_, index) => !stored[index]);
}
