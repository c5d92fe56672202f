/** The record that marks its row as deleted. It is made without the row, so its key is one that no row can have. */
import { marksAsDeleted, type MappedRecord } from '../domain/records/record.js';
import type { SourceKey } from '../domain/source/source.js';
import { recordOf } from '../records/record-list.js';
import { deletedRecords } from '../mapping/compile/deleted-record.js';
import type { OpenMapping } from './dependencies.js';

/** A record of a tenant, by names. */
export type RecordName = Pick<MappedRecord, 'tenant' | 'externalId'>;

/** The removal of a record. Its source key has two values too many: the tenant and the external id. */
export function removalOf({ spec }: Pick<OpenMapping, 'spec'>, { tenant, externalId }: RecordName): MappedRecord {
  const { json, deletion } = deletedRecords(spec);
  const sourceKey = [...spec.key.map(() => ''), tenant, externalId];
  return recordOf(tenant, externalId, sourceKey, json(externalId), deletion);
}

/** The record that has this source key if it is a removal; null if the key is that of a row. */
export function removalWithKey({ spec }: Pick<OpenMapping, 'spec'>, sourceKey: SourceKey): RecordName | null {
  const columns = spec.key.length;
  const [tenant, externalId, ...more] = sourceKey.slice(columns);
  if (tenant === undefined || externalId === undefined || more.length > 0) return null;
  // A longer key is that of a row if the mapping had more key columns once.
  return sourceKey.slice(0, columns).every((value) => value === '') ? { tenant, externalId } : null;
}

/** Whether a row of the mapping as it is now can have the key: neither a removal, nor a row of another version of it. */
export const isRowKey = ({ spec }: Pick<OpenMapping, 'spec'>, sourceKey: SourceKey): boolean =>
  sourceKey.length === spec.key.length;

/** Whether the platform has accepted the record as deleted. `contentHash`: the accepted hash, or null. */
export const isRemoved = (
  mapping: Pick<OpenMapping, 'spec'>,
  { externalId, contentHash }: { readonly externalId: string; readonly contentHash: string | null },
): boolean => {
  const removal = removalOf(mapping, { tenant: '', externalId });
  return marksAsDeleted(removal) && removal.contentHash === contentHash;
};
