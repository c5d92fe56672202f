/**
 * The parents of records that the platform has not accepted. What a child lacked when it was sent is looked up afterwards, since
 * most are accepted: another run, or another partition, may have delivered the parent in between. The platform may also have lost
 * one that it had accepted.
 */
import type { ParentName } from '../../domain/records/parent.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { PartitionContext } from '../partition-context.js';
import { forgetLostParents } from './lost-parents.js';
import {
  keepsAcceptedHashes,
  namesOf,
  parentKey,
  parentMappings,
  parentsOf,
  undeliveredParents,
  type ParentContext,
} from './parents.js';

type Sent = Pick<IntendedBatch, 'id'>;

export interface MissingParents {
  /** The parents that the platform does not have now. */
  readonly missing: readonly ParentName[];
  /** If it has all of them: those that it may have got only since the record was sent. */
  readonly late: readonly ParentName[];
}

/**
 * Returns what is known of the parents of each of the records.
 *
 * @param batches those that the records were sent in
 */
export async function missingParents(
  context: PartitionContext,
  batches: readonly Sent[],
  records: readonly MappedRecord[],
): Promise<(record: MappedRecord) => MissingParents> {
  const undelivered = await undeliveredParents(context, records);
  const others = records.filter((record) => !undelivered.has(record));
  const late = await lateParents(context, batches, others);
  const parents = others.flatMap((record) => parentsOf(context.mapping, record));
  const lost = new Set((await forgetLostParents(context, parents)).map(parentKey));
  const lostOf = (record: MappedRecord): readonly ParentName[] =>
    namesOf(parentsOf(context.mapping, record).filter((parent) => lost.has(parentKey(parent))));
  return (record) => {
    const missing = undelivered.get(record) ?? lostOf(record);
    return missing.length === 0 ? { missing, late: late.get(record) ?? [] } : { missing, late: [] };
  };
}

/** The parents of each record of mappings of which records may have been accepted since the batches were sent. */
async function lateParents(
  context: ParentContext,
  batches: readonly Sent[],
  records: readonly MappedRecord[],
): Promise<ReadonlyMap<MappedRecord, readonly ParentName[]>> {
  const parents = new Map(records.map((record) => [record, parentsOf(context.mapping, record)]));
  const late = new Set<string>();
  for (const schemaName of new Set([...parents.values()].flat().map((parent) => parent.schemaName)))
    if (await mayHaveComeSince(context, batches, schemaName)) late.add(schemaName);
  return new Map(
    [...parents].map(([record, own]) => [record, namesOf(own.filter(({ schemaName }) => late.has(schemaName)))]),
  );
}

/** Only the ledger's batches can show that no such record was accepted since. */
async function mayHaveComeSince(
  context: ParentContext,
  batches: readonly Sent[],
  schemaName: string,
): Promise<boolean> {
  const mappings = await parentMappings(context, schemaName);
  const ids = batches.flatMap(({ id }) => id ?? []);
  if (ids.length < batches.length || mappings.length === 0 || !mappings.every(keepsAcceptedHashes)) return true;
  return context.deps.ledger.batches.anyAcceptedSince(
    ids,
    mappings.map(({ mappingId }) => mappingId),
  );
}
