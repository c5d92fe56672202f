/** What the platform accepted last, for records that carry their tenant by its name. */
import type { MappedRecord } from '../src/domain/record.js';
import type { OpenMapping, Views } from './dependencies.js';

/** Content hashes of those of the records of which the platform accepted any. */
export async function receiptsOf<R extends Pick<MappedRecord, 'tenant' | 'externalId'>>(
  deps: Pick<Views, 'ledger'>,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<ReadonlyMap<R, string>> {
  const tenants = await deps.ledger.catalog.tenantIds([...new Set(records.map((r) => r.tenant))]);
  // 0: a tenant to which nothing was ever sent.
  const keys = {
    tenantIds: records.map((r) => tenants.get(r.tenant) ?? 0),
    externalIds: records.map((r) => r.externalId),
  };
  const hashes = await deps.ledger.receipts.hashes(mapping.mappingId, keys);
  return new Map([...hashes].map(([index, hash]) => [records[index]!, hash]));
}
