/** Splits a chunk's rows into records that can be sent and failed rows: unmappable ones and duplicate external ids. */
import { compareIds } from '../../ledger/record-key.js';
import { FailedRowList } from '../../records/failed-row-list.js';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { groupBy } from '../../domain/values/group-by.js';
import type { FailedRow } from '../../domain/records/record.js';
import type { RecordList } from '../../records/record-list.js';
import type { Chunk } from '../../reading/chunk.js';
import { duplicateRecord } from './new-dead-letters.js';

export interface SplitChunk extends Pick<Chunk, 'records' | 'failedRows'> {
  /** How many rows were left out, since they were read again later in the chunk. */
  readonly rowsReadTwice: number;
}

/**
 * A row that was read twice becomes one record, as it was read last. Of two rows with one external id, neither is sent.
 */
export function splitDuplicates({ records, failedRows }: Pick<Chunk, 'records' | 'failedRows'>): SplitChunk {
  return areDistinct(records) ? { records, failedRows, rowsReadTwice: 0 } : withoutDuplicates(records, failedRows);
}

function areDistinct(records: RecordList): boolean {
  if (areRising(records)) return true;
  const ids = new Map<string, Set<string>>();
  for (const { tenant, externalId } of records) {
    const ofTenant = getOrInsert(ids, tenant, () => new Set<string>());
    if (ofTenant.has(externalId)) return false;
    ofTenant.add(externalId);
  }
  return true;
}

/**
 * Whether each id sorts behind the one before it, as in nearly all chunks that are read by key: then none occurs twice.
 */
function areRising(records: RecordList): boolean {
  const { externalIds } = records;
  for (let i = 1; i < externalIds.length; i++)
    if (records.tenantAt(i - 1) !== records.tenantAt(i) || compareIds(externalIds[i - 1]!, externalIds[i]!) >= 0)
      return false;
  return true;
}

function withoutDuplicates(records: RecordList, unmappable: Iterable<FailedRow>): SplitChunk {
  const { externalIds } = records;
  const byId = groupBy(externalIds.keys(), (index) => `${records.tenantAt(index)}/${externalIds[index]!}`);
  const kept = new Set<number>();
  const failedRows = [...unmappable];
  let rowsReadTwice = 0;
  for (const same of byId.values()) {
    const rows = same.map((index) => records.at(index));
    if (new Set(rows.map((r) => JSON.stringify(r.sourceKey))).size === 1) {
      kept.add(same.at(-1)!);
      rowsReadTwice += same.length - 1;
    } else failedRows.push(...rows.map(duplicateRecord));
  }
  return {
    records: records.pick((index) => kept.has(index)),
    failedRows: FailedRowList.of(failedRows),
    rowsReadTwice,
  };
}
