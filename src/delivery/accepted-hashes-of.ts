/** Looks up accepted hashes of records by the platform's tenant ids, which the ledger knows by numbers. */
import type { MappedRecord } from '../domain/records/record.js';
import type { OpenMapping, Views } from './dependencies.js';

/** The accepted hashes (32 hex digits) of those records that the platform has accepted. */
export async function acceptedHashesOf<R extends Pick<MappedRecord, 'tenant' | 'externalId'>>(
  deps: Pick<Views, 'ledger'>,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<ReadonlyMap<R, string>> {
  const tenants = await deps.ledger.ids.tenantIds([...new Set(records.map((r) => r.tenant))]);
  // No tenant has the number 0: nothing was ever sent to one that has none.
  const keys = {
    tenantIds: records.map((r) => tenants.get(r.tenant) ?? 0),
    externalIds: records.map((r) => r.externalId),
  };
  const hashes = await deps.ledger.acceptedHashes.hashes(mapping.mappingId, keys);
  return new Map([...hashes].map(([index, hash]) => [records[index]!, hash]));
}
