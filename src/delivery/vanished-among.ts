/** Tells which records have no row in the source any more. */
import { isSurelyFound, lookUpOf } from '../mapping/compile/external-id-look-up.js';
import { findRows } from '../reading/find-rows.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import type { RecordName } from './removal-record.js';

/** The records that certainly have no row in the source now. A row that cannot be mapped counts as a row. */
export async function vanishedAmong<R extends RecordName>(
  sync: OpenSync,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<R[]> {
  const how = lookUpOf(mapping.spec);
  const sure = records.filter((r) => how !== null && isSurelyFound(how, r.externalId));
  if (sure.length === 0) return [];
  const { results, unnamed } = await findRows(
    sync,
    mapping,
    sure.map((r) => r.externalId),
  );
  if (unnamed > 0) {
    if (sure.length === 1) return [];
    const middle = sure.length >> 1;
    const [a, b] = [sure.slice(0, middle), sure.slice(middle)];
    return [...(await vanishedAmong(sync, mapping, a)), ...(await vanishedAmong(sync, mapping, b))];
  }
  const there = new Set(results.map((r) => nameOf(r.tenant, r.externalId)));
  // A row without a known tenant may be that of any of the records.
  return sure.filter((r) => !there.has(nameOf(r.tenant, r.externalId)) && !there.has(nameOf(null, r.externalId)));
}

/** One text for a record by its tenant's name; null for what is not known of it. By the tenant's number: `recordKey`. */
export const nameOf = (tenant: string | null, externalId: string | null): string =>
  JSON.stringify([tenant, externalId]);
