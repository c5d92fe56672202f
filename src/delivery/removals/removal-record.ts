/** The record that marks its row as deleted, made without the row. */
import type { MappedRecord } from '../../domain/record.js';
import { recordOf } from '../../records/record-list.js';
import { deletedRecords } from '../../mapping/compile/deleted-record.js';
import type { OpenMapping } from '../dependencies.js';

/** A record of a tenant, by names. */
export type Named = Pick<MappedRecord, 'tenant' | 'externalId'>;

/** Its row was not read, so it gets a key that no row can have, with one value too many. */
export function removalOf({ spec }: Pick<OpenMapping, 'spec'>, { tenant, externalId }: Named): MappedRecord {
  const { json, deletion } = deletedRecords(spec);
  return recordOf(tenant, externalId, [...spec.key.map(() => ''), externalId], json(externalId), deletion);
}

/** Whether the platform has accepted the record as deleted. `contentHash`: the accepted hash, or null. */
export const isRemoved = (
  mapping: Pick<OpenMapping, 'spec'>,
  { externalId, contentHash }: { readonly externalId: string; readonly contentHash: string | null },
): boolean => {
  const removal = removalOf(mapping, { tenant: '', externalId });
  return removal.deletion === 'apply' && removal.contentHash === contentHash;
};
