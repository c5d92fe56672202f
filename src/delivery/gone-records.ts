/** Tells which records are gone from the source: neither their mapping nor another one that fills the same schema has a row of them. */
import { recordKey } from '../ledger/record-key.js';
import { isSurelyFound, lookUpOf } from '../mapping/compile/external-id-look-up.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';
import { isRemoved, type RecordName } from './removal-record.js';
import { withoutRow, type WithoutRow } from './without-row.js';

/**
 * As {@link withoutRow}, but without the records that another mapping of the sync delivers: to the platform they are one record, which
 * must not be marked as deleted because its row is read by another mapping now.
 */
export async function goneRecords<R extends RecordName>(
  deps: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<WithoutRow<R>> {
  let { vanished, uncertain } = await withoutRow(sync, mapping, records);
  for (const { name, schema } of sync.spec.mappings) {
    if (vanished.length === 0) break;
    if (name === mapping.spec.name || schema.name !== mapping.spec.schema.name) continue;
    const other = await notOf(deps, sync, await sync.mapping(name), vanished);
    vanished = other.vanished;
    uncertain = [...uncertain, ...other.uncertain];
  }
  return { vanished, uncertain };
}

/** The records of which this mapping has no row; where its rows cannot be found by their ids, what the platform has accepted counts. */
async function notOf<R extends RecordName>(
  deps: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<WithoutRow<R>> {
  const how = lookUpOf(mapping.spec);
  const isFound = ({ externalId }: R): boolean => how !== null && isSurelyFound(how, externalId);
  const found = await withoutRow(sync, mapping, records.filter(isFound));
  const others = records.filter((record) => !isFound(record));
  const isDelivered = await deliveredBy(deps, mapping, others);
  return { ...found, vanished: [...found.vanished, ...others.filter((_, index) => !isDelivered.has(index))] };
}

/** The indexes of the records that the platform has accepted from this mapping, and not as marked as deleted. */
async function deliveredBy(
  { ledger }: Pick<Dependencies, 'ledger'>,
  mapping: OpenMapping,
  records: readonly RecordName[],
): Promise<ReadonlySet<number>> {
  if (records.length === 0) return new Set();
  const tenants = await ledger.ids.tenantIds([...new Set(records.map(({ tenant }) => tenant))]);
  const tenantIds = records.map(({ tenant }) => tenants.get(tenant)!);
  const known = await ledger.knownRecords.among(mapping.mappingId, {
    tenantIds,
    externalIds: records.map(({ externalId }) => externalId),
  });
  const delivered = new Set(
    known
      .filter(({ contentHash }) => contentHash != null)
      .filter(({ externalId, contentHash }) => !isRemoved(mapping, { externalId, contentHash: contentHash! }))
      .map(recordKey),
  );
  return new Set(
    records.flatMap(({ externalId }, i) =>
      delivered.has(recordKey({ tenantId: tenantIds[i]!, externalId })) ? [i] : [],
    ),
  );
}
