/** The record that marks its row as deleted, made without the row. */
import type { MappedRecord } from '../../domain/record.js';
import type { SourceKey } from '../../domain/source.js';
import { recordOf } from '../../records/record-list.js';
import { deletedRecords } from '../../mapping/compile/deleted-record.js';
import type { OpenMapping } from '../dependencies.js';

/** A record of a tenant, by names. */
export type Named = Pick<MappedRecord, 'tenant' | 'externalId'>;

/** Its row was not read, so it gets a key that no row can have, with too many values. */
export function removalOf({ spec }: Pick<OpenMapping, 'spec'>, { tenant, externalId }: Named): MappedRecord {
  const { json, deletion } = deletedRecords(spec);
  const sourceKey = [...spec.key.map(() => ''), tenant, externalId];
  return recordOf(tenant, externalId, sourceKey, json(externalId), deletion);
}

/** The record that has this source key if it is a removal; null if the key is that of a row. */
export function removalWithKey({ spec }: Pick<OpenMapping, 'spec'>, sourceKey: SourceKey): Named | null {
  const [tenant, externalId] = sourceKey.slice(spec.key.length);
  return tenant === undefined || externalId === undefined ? null : { tenant, externalId };
}

/** Whether the platform has accepted the record as deleted. `contentHash`: the accepted hash, or null. */
export const isRemoved = (
  mapping: Pick<OpenMapping, 'spec'>,
  { externalId, contentHash }: { readonly externalId: string; readonly contentHash: string | null },
): boolean => {
  const removal = removalOf(mapping, { tenant: '', externalId });
  return removal.deletion === 'apply' && removal.contentHash === contentHash;
};
