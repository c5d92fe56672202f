/**
 * Proves what became of each record of a batch by the batch's counters, its list of pending records and, if these leave
 * doubt, by reading records back. Messages only suggest which records to read back first (ADR 0029).
 */
import { differingField } from '../../domain/records/compare.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { BatchStatus } from '../../platform/contract/batches.js';
import { provenByCounters, warnOnce } from './batch-status.js';
import type { Pace } from '../../platform/pace.js';
import { allEnded } from '../all-ended.js';
import type { PartitionContext } from '../partition-context.js';
import type { NamedFailures } from './named-failures.js';
import type { ProvenOutcome } from './outcome.js';
import type { SentBatch } from './upload-batch.js';

/** The outcomes of a batch that the platform has processed, by external id. */
export async function provenOutcomes(
  context: PartitionContext,
  batch: SentBatch,
  status: BatchStatus,
  { byId: named }: NamedFailures,
): Promise<ReadonlyMap<string, ProvenOutcome>> {
  const { externalIds, length: sent } = batch.records;
  const { listed, addsUp, agrees, outcomeOfUnlisted, unlistedPending } = provenByCounters(status, externalIds, sent);
  const outcomes = new Map<string, ProvenOutcome>();
  for (const id of listed.keys()) outcomes.set(id, 'pending');
  const open = [...batch.records].filter(({ externalId }) => !listed.has(externalId));
  // A record that "exists" may come from our own upload whose response was lost: then what is stored decides.
  const mayExist = context.mapping.spec.options.onConflict === 'reject';
  if (outcomeOfUnlisted === 'accepted' || (outcomeOfUnlisted === 'rejected' && !mayExist)) {
    for (const { externalId } of open) outcomes.set(externalId, outcomeOfUnlisted);
    return outcomes;
  }

  const { failedRecords } = status.progress;
  let absent = await notStored(
    context,
    batch.tenant,
    open.filter(({ externalId }) => named.has(externalId)),
  );
  // If the named records explain all failures that are counted, all others are accepted and need not be read back.
  if (!(agrees && absent.length === failedRecords)) {
    const rest = open.filter(({ externalId }) => !named.has(externalId));
    absent = [...absent, ...(await notStored(context, batch.tenant, rest))];
  }
  const isAbsent = new Set(absent.map(({ externalId }) => externalId));
  for (const { externalId } of open) if (!isAbsent.has(externalId)) outcomes.set(externalId, 'accepted');
  // Fewer absent records than counted failures are also consistent: a failed record may be stored from an earlier upload.
  const isCounted = addsUp && absent.length <= failedRecords + unlistedPending;
  if (!isCounted) warnOnce('batch_inconsistent', context, batch.platformBatchId, status);
  const failedByName = absent.filter(({ externalId }) => named.has(externalId));
  // If the platform counts more pending records than it lists, those that it does not name as failed are pending.
  const allFailedNamed = failedByName.length === failedRecords;
  for (const { externalId } of absent) {
    const isRejected = unlistedPending === 0 || (allFailedNamed && named.has(externalId));
    outcomes.set(externalId, !isCounted ? 'unknown' : isRejected ? 'rejected' : 'pending');
  }
  return outcomes;
}

/** The outcomes of a batch that is not processed, or not known to the platform, at its deadline, by external id. */
export async function storedOutcomes(
  context: PartitionContext,
  { records, tenant }: SentBatch,
  status: BatchStatus | null,
): Promise<ReadonlyMap<string, ProvenOutcome>> {
  const { externalIds } = records;
  const listed =
    status === null ? new Map<string, never>() : provenByCounters(status, externalIds, externalIds.length).listed;
  const open = [...records].filter(({ externalId }) => !listed.has(externalId));
  const absent = new Set((await notStored(context, tenant, open)).map(({ externalId }) => externalId));
  const outcomes = new Map<string, ProvenOutcome>();
  for (const id of listed.keys()) outcomes.set(id, 'pending');
  for (const { externalId } of open) outcomes.set(externalId, absent.has(externalId) ? 'unknown' : 'accepted');
  return outcomes;
}

/** Those of the records that the platform has not stored as they were sent. */
export async function notStored(
  { deps, sync, mapping, effort, signal }: PartitionContext,
  tenant: string,
  records: readonly MappedRecord[],
): Promise<MappedRecord[]> {
  const { platform } = deps;
  const schema = mapping.spec.schema.name;
  const isStored = async ({ externalId, data }: MappedRecord, pace: Pace): Promise<boolean> => {
    const options = { tenant, signal, pace, onRetry: sync.onRetry, onEnd: effort.requestEnded };
    const stored = await platform.findResource(schema, externalId, options);
    if (stored === null) return false;
    return differingField(data, stored.result.data, mapping.referenceFields) === null;
  };
  const stored = await allEnded(
    records.map((record) => sync.requestLimit.run({ queue: tenant, signal }, (pace) => isStored(record, pace))),
  );
  return records.filter((_, index) => !stored[index]);
}
