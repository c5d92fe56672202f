/**
 * Proves what became of each record of a batch by the batch's counters, its list of pending records and, if these leave
 * doubt, by reading records back. Messages only suggest which records to read back first (ADR 0029).
 */
import { marksAsDeleted, type MappedRecord } from '../../domain/records/record.js';
import { countsOf } from '../../platform/batch-progress.js';
import type { BatchStatus } from '../../platform/contract/batches.js';
import { provenByCounters, warnOnce } from './batch-status.js';
import { hasUnlistedPending } from './dependency-wait.js';
import type { PartitionContext } from '../partition-context.js';
import type { NamedFailures } from './named-failures.js';
import { notStored } from './not-stored.js';
import type { ProvenOutcome } from './outcome.js';
import type { SentBatch } from './post-batch.js';

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
  // The mark of a record that the platform never took may be rejected, too: then nothing is left to be marked.
  const mayHaveNothingToMark = open.some(marksAsDeleted);
  if (outcomeOfUnlisted === 'accepted' || (outcomeOfUnlisted === 'rejected' && !mayExist && !mayHaveNothingToMark)) {
    for (const { externalId } of open) outcomes.set(externalId, outcomeOfUnlisted);
    return outcomes;
  }

  const { failedRecords } = countsOf(status);
  const failed = (records: readonly MappedRecord[]) => notStored(context, batch.tenant, records, { isProcessed: true });
  let absent = await failed(open.filter(({ externalId }) => named.has(externalId)));
  // If the named records explain all failures that are counted, all others are accepted and need not be read back. One that is not
  // missing explains none: a message may mean another record, and the platform may have stored this one in another form.
  const explainsAll = absent.length === failedRecords && absent.every(({ isMissing }) => isMissing);
  if (!(agrees && explainsAll)) {
    absent = [...absent, ...(await failed(open.filter(({ externalId }) => !named.has(externalId))))];
  }
  for (const { externalId } of open) outcomes.set(externalId, 'accepted');
  // Fewer absent records than counted failures are also consistent: a failed record may be stored from an earlier upload.
  const isCounted = addsUp && absent.length <= failedRecords + unlistedPending;
  if (!isCounted) warnOnce('batch_inconsistent', context, batch.platformBatchId, status);
  const failedByName = absent.filter(({ record }) => named.has(record.externalId));
  // If the platform counts more pending records than it lists, those that it does not name as failed are pending.
  const allFailedNamed = failedByName.length === failedRecords;
  for (const { record } of absent) {
    const { externalId } = record;
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
  const counted = status === null ? null : provenByCounters(status, externalIds, externalIds.length);
  const listed = counted?.listed ?? new Map<string, never>();
  const notStoredAs = hasUnlistedPending(context, counted) ? 'pending' : 'unknown';
  const open = [...records].filter(({ externalId }) => !listed.has(externalId));
  const absent = new Set(
    (await notStored(context, tenant, open, { isProcessed: false })).map(({ record }) => record.externalId),
  );
  const outcomes = new Map<string, ProvenOutcome>();
  for (const id of listed.keys()) outcomes.set(id, 'pending');
  for (const { externalId } of open) outcomes.set(externalId, absent.has(externalId) ? notStoredAs : 'accepted');
  return outcomes;
}
