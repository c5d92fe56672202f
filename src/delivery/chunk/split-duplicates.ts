/** Splits a chunk's rows into records that can be sent and failed rows: unmappable ones and duplicate external ids. */
import { compareIds } from '../../ledger/record-key.js';
import { FailedRowList } from '../../records/failed-row-list.js';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { groupBy } from '../../domain/values/group-by.js';
import type { FailedRow, MappedRecord } from '../../domain/records/record.js';
import type { RecordList } from '../../records/record-list.js';
import type { Chunk } from '../../reading/chunk.js';
import { duplicateRecord } from './new-dead-letters.js';

export interface SplitChunk extends Pick<Chunk, 'records' | 'failedRows'> {
  /** Rows that are marked as deleted, and whose record another row of the chunk gives. */
  readonly superseded: readonly MappedRecord[];
  /** How many rows were left out, since they were read again later in the chunk. */
  readonly rowsReadTwice: number;
}

/**
 * A row that was read twice becomes one record, as it was read last. Of two rows with one external id, neither is sent, unless one of them
 * is marked as deleted: that one has no say.
 */
export function splitDuplicates({ records, failedRows }: Pick<Chunk, 'records' | 'failedRows'>): SplitChunk {
  return areDistinct(records)
    ? { records, failedRows, superseded: [], rowsReadTwice: 0 }
    : withoutDuplicates(records, failedRows);
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
  const superseded: MappedRecord[] = [];
  let rowsReadTwice = 0;
  for (const same of byId.values()) {
    const rows = groupBy(same, (index) => JSON.stringify(records.at(index).sourceKey));
    const asReadLast = [...rows.values()].map((readings) => readings.at(-1)!);
    const live = asReadLast.filter((index) => records.deletionAt(index) === undefined);
    const chosen = live.length === 0 ? asReadLast.slice(-1) : live;
    if (chosen.length === 1) kept.add(chosen[0]!);
    for (const readings of rows.values()) {
      const last = readings.at(-1)!;
      if (kept.has(last)) rowsReadTwice += readings.length - 1;
      else if (chosen.includes(last)) failedRows.push(...readings.map((index) => duplicateRecord(records.at(index))));
      else superseded.push(...readings.map((index) => records.at(index)));
    }
  }
  return {
    records: records.pick((index) => kept.has(index)),
    failedRows: FailedRowList.of(failedRows),
    superseded,
    rowsReadTwice,
  };
}
