/** The keys by which the ledger knows the records of a chunk, in their order. */
import type { Ledger } from '../../ledger/ledger.js';
import type { RecordPlace } from '../../ledger/record-key.js';
import type { RecordList } from '../../records/record-list.js';

export async function keysOf({ ids }: Pick<Ledger, 'ids'>, records: RecordList): Promise<RecordPlace[]> {
  const tenantIds = await ids.tenantIds([...new Set(records.tenants)]);
  return records.externalIds.map((externalId, index) => ({
    tenantId: tenantIds.get(records.tenantAt(index))!,
    externalId,
  }));
}
