/** Reads records back to tell which of them the platform has stored. */
import { PartnerSyncError } from '../../domain/errors.js';
import { differingField } from '../../domain/records/compare.js';
import { marksAsDeleted, type MappedRecord } from '../../domain/records/record.js';
import type { Pace } from '../../platform/pace.js';
import { allEnded } from '../all-ended.js';
import type { PartitionContext } from '../partition-context.js';

/** A record that the platform has not stored as it was sent. */
export interface AbsentRecord {
  readonly record: MappedRecord;
  /** Whether it says that it has none of this id; if not, it has an earlier version, or this one in a form of its own, or does not say. */
  readonly isMissing: boolean;
}

/**
 * Those of the records that the platform has not stored as they were sent. What it refuses to look up, such as an id with a
 * slash, is not proved to be stored.
 *
 * @param isProcessed whether it is done with all batches of the records: then a mark needs no record
 * @param once whether a look-up that fails is not made again, but ends this
 */
export async function notStored(
  { deps, sync, mapping, effort, signal }: PartitionContext,
  tenant: string,
  records: readonly MappedRecord[],
  { isProcessed, once = false }: { readonly isProcessed: boolean; readonly once?: boolean },
): Promise<AbsentRecord[]> {
  const { platform } = deps;
  const schema = mapping.spec.schema.name;
  const absentOf = async (record: MappedRecord, pace: Pace): Promise<AbsentRecord | null> => {
    const options = { tenant, signal, pace, onRetry: sync.onRetry, onEnd: effort.requestEnded, once };
    const stored = await platform.findResource(schema, record.externalId, options).catch(refused);
    if (stored === null) return isProcessed && marksAsDeleted(record) ? null : { record, isMissing: true };
    if (stored === 'refused') return { record, isMissing: false };
    const isSame = differingField(record.data, stored.result.data, mapping.referenceFields) === null;
    return isSame ? null : { record, isMissing: false };
  };
  const absent = await allEnded(
    records.map((record) => sync.requestLimit.run({ queue: tenant, signal }, (pace) => absentOf(record, pace))),
  );
  return absent.filter((each) => each !== null);
}

function refused(error: unknown): 'refused' {
  if (error instanceof PartnerSyncError && error.code === 'platform_refused') return 'refused';
  throw error;
}
