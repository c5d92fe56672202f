/** The record that says of a row that it is deleted, made without the row. */
import type { MappedRecord } from '../src/domain/record.js';
import { recordOf } from '../src/domain/record-list.js';
import { deletedRecords } from '../src/mapping/deleted-record.js';
import type { OpenMapping } from './dependencies.js';

/** A record of a tenant, by names. */
export type Named = Pick<MappedRecord, 'tenant' | 'externalId'>;

/** Its row was never read, so its key is none that a row can have: one value too many. */
export function removalOf({ spec }: Pick<OpenMapping, 'spec'>, { tenant, externalId }: Named): MappedRecord {
  const { json, deletion } = deletedRecords(spec);
  return recordOf(tenant, externalId, [...spec.key.map(() => ''), externalId], json(externalId), deletion);
}

/** Whether the platform has accepted that the record's row is deleted; `receipt`: what it accepted last. */
export const isRemoved = (
  mapping: Pick<OpenMapping, 'spec'>,
  { externalId, contentHash }: { readonly externalId: string; readonly contentHash: string | null },
): boolean => {
  const removal = removalOf(mapping, { tenant: '', externalId });
  return removal.deletion === 'apply' && removal.contentHash === contentHash;
};
