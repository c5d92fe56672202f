/** Parts a group's rows: records that can be sent, and rows that cannot, unmappable ones and clashes of external ids. */
import { compareIds } from '../src/state/record-key.js';
import { LetterList } from '../src/domain/letter-list.js';
import type { MappedRecord, UnmappableRow } from '../src/domain/record.js';
import type { RecordList } from '../src/domain/record-list.js';
import type { Group } from '../src/reading/group.js';

export type SortedOut = Pick<Group, 'records' | 'letters'>;

export function sortOut({ records, letters }: SortedOut): SortedOut {
  return areDistinct(records) ? { records, letters } : withoutClashes(records, letters);
}

function areDistinct(records: RecordList): boolean {
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
function areRising(records: RecordList): boolean {
  const { externalIds } = records;
  for (let i = 1; i < externalIds.length; i++)
    if (records.tenantAt(i - 1) !== records.tenantAt(i) || compareIds(externalIds[i - 1]!, externalIds[i]!) >= 0)
      return false;
  return true;
}

function withoutClashes(records: RecordList, unmappable: Iterable<UnmappableRow>): SortedOut {
  const byId = new Map<string, number[]>();
  for (const [index, { tenant, externalId }] of [...records].entries()) {
    const id = `${tenant}/${externalId}`;
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [index]);
    else same.push(index);
  }
  const kept = new Set<number>();
  const letters = [...unmappable];
  for (const same of byId.values()) {
    const rows = same.map((index) => records.at(index));
    // One row read twice (it changed meanwhile): the later reading counts. Two rows with one id: neither does.
    if (new Set(rows.map((r) => JSON.stringify(r.sourceKey))).size === 1) kept.add(same.at(-1)!);
    else letters.push(...rows.map(clash));
  }
  return { records: records.pick((index) => kept.has(index)), letters: LetterList.of(letters) };
}

/** The dead letter of a row whose external id another row has too. */
export const clash = ({ tenant, externalId, sourceKey }: MappedRecord): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant, externalId, sourceKey },
  ...{ code: 'duplicate_external_id', pointer: '', rule: 'unique external id', shape: '' },
  reason: 'another row maps to the same external id',
});
