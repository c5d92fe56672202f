/** Tells which records have no row in the source any more. */
import { isSurelyFound } from '../mapping/compile/external-id-look-up.js';
import { findRows, idLookUpOf } from '../reading/find-rows.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import type { RecordName } from './removal-record.js';

/** Records without a row that is mapped to them. */
export interface WithoutRow<R> {
  /** They certainly have none in the source now. */
  readonly vanished: readonly R[];
  /** A row that cannot be mapped may be theirs, or their ids can be split in too many ways to look for all rows that may be. */
  readonly uncertain: readonly R[];
}

/** Those of the records that have no row, as far as rows are surely found by their external ids. */
export async function withoutRow<R extends RecordName>(
  sync: OpenSync,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<WithoutRow<R>> {
  const how = await idLookUpOf(sync, mapping);
  const sure = records.filter((r) => how !== null && isSurelyFound(how, r.externalId));
  const unsure = how?.certain === true ? records.filter((r) => !isSurelyFound(how, r.externalId)) : [];
  if (sure.length === 0) return { vanished: [], uncertain: unsure };
  const { results, unnamed } = await findRows(
    sync,
    mapping,
    sure.map((r) => r.externalId),
  );
  if (unnamed > 0) {
    if (sure.length === 1) return { vanished: [], uncertain: [...sure, ...unsure] };
    const middle = sure.length >> 1;
    const a = await withoutRow(sync, mapping, sure.slice(0, middle));
    const b = await withoutRow(sync, mapping, sure.slice(middle));
    return { vanished: [...a.vanished, ...b.vanished], uncertain: [...a.uncertain, ...b.uncertain, ...unsure] };
  }
  const there = new Set(results.map((r) => nameOf(r.tenant, r.externalId)));
  const missed = sure.filter((r) => !there.has(nameOf(r.tenant, r.externalId)));
  // A row without a known tenant may be that of any of the records.
  const mayBeThere = (r: R): boolean => there.has(nameOf(null, r.externalId));
  return { vanished: missed.filter((r) => !mayBeThere(r)), uncertain: [...missed.filter(mayBeThere), ...unsure] };
}

/** One text for a record by its tenant's name; null for what is not known of it. By the tenant's number: `recordKey`. */
export const nameOf = (tenant: string | null, externalId: string | null): string =>
  JSON.stringify([tenant, externalId]);
