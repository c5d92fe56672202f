/** Parts a group's rows: records that can be sent, and rows that cannot, unmappable ones and clashes of external ids. */
import { compareIds } from '../src/state/record-key.js';
import type { MappedRecord, MapResult, UnmappableRow } from '../src/domain/record.js';

export interface SortedOut {
  readonly records: readonly MappedRecord[];
  readonly letters: readonly UnmappableRow[];
}

export function sortOut(results: readonly MapResult[]): SortedOut {
  const records: MappedRecord[] = [];
  const letters: UnmappableRow[] = [];
  for (const result of results) {
    if (result.kind === 'record') records.push(result);
    else letters.push(result);
  }
  return areDistinct(records) ? { records, letters } : withoutClashes(records, letters);
}

function areDistinct(records: readonly MappedRecord[]): boolean {
  if (areRising(records)) return true;
  const ids = new Map<string, Set<string>>();
  for (const { tenant, externalId } of records) {
    let ofTenant = ids.get(tenant);
    if (ofTenant === undefined) ids.set(tenant, (ofTenant = new Set()));
    if (ofTenant.has(externalId)) return false;
    ofTenant.add(externalId);
  }
  return true;
}

/** Whether each is behind the one before it, as most are that are read by their key: then no two are alike. */
function areRising(records: readonly MappedRecord[]): boolean {
  for (let i = 1; i < records.length; i++) {
    const [before, record] = [records[i - 1]!, records[i]!];
    if (before.tenant !== record.tenant || compareIds(before.externalId, record.externalId) >= 0) return false;
  }
  return true;
}

function withoutClashes(mapped: readonly MappedRecord[], unmappable: readonly UnmappableRow[]): SortedOut {
  const byId = new Map<string, MappedRecord[]>();
  for (const record of mapped) {
    const id = `${record.tenant}/${record.externalId}`;
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [record]);
    else same.push(record);
  }
  const records: MappedRecord[] = [];
  const letters = [...unmappable];
  for (const same of byId.values()) {
    // One row read twice (it changed meanwhile): the later reading counts. Two rows with one id: neither does.
    if (new Set(same.map((r) => JSON.stringify(r.sourceKey))).size === 1) records.push(same.at(-1)!);
    else letters.push(...same.map(clash));
  }
  return { records, letters };
}

/** The dead letter of a row whose external id another row has too. */
export const clash = ({ tenant, externalId, sourceKey }: MappedRecord): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant, externalId, sourceKey },
  ...{ code: 'duplicate_external_id', pointer: '', rule: 'unique external id', shape: '' },
  reason: 'another row maps to the same external id',
});
