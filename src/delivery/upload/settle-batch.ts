/** Polls one batch until each of its records has an outcome. */
import type { PendingResource } from '../../platform/contract/batches.js';
import type { ParentName } from '../../domain/records/parent.js';
import { isAllAccepted, pollUntilProcessed } from './batch-status.js';
import type { PartitionContext } from '../partition-context.js';
import { dependencyWaitOf, longestKept } from './dependency-wait.js';
import { messageAbout, namedFailures } from './named-failures.js';
import { ALL_ACCEPTED, notAccepted, type BatchOutcomes, type Outcome, type ProvenOutcome } from './outcome.js';
import { missingParents } from '../parents/missing-parents.js';
import { maskedMessage } from './platform-message.js';
import { provenOutcomes, storedOutcomes } from './proven-outcomes.js';
import type { SentBatch } from './post-batch.js';

export interface SettledBatch {
  readonly batch: SentBatch;
  readonly outcomes: BatchOutcomes;
}

/**
 * Waits for the outcomes of the batch's records. The ledger has the platform's id of the batch afterwards. A batch with
 * pending records is written to the ledger even if its mapping keeps no records there, so that it can be polled later.
 *
 * @param readSeq the read sequence number drawn after the batch's rows were read
 */
export async function settleBatch(context: PartitionContext, batch: SentBatch, readSeq: string): Promise<SettledBatch> {
  const outcomes = await batchOutcomes(context, batch);
  // The platform's id is written while the batch is polled, but must be there before any outcome is.
  await batch.recorded;
  const isPending = outcomes !== ALL_ACCEPTED && [...outcomes.values()].some(({ kind }) => kind === 'pending');
  if (batch.id !== null || !isPending) return { batch, outcomes };
  const id = await context.deps.ledger.batches.insertSent(context.partition, readSeq, batch, batch.platformBatchId);
  return { batch: { ...batch, id }, outcomes };
}

/** Waits until the batch is processed or its deadline has passed, and returns what is proved by then. */
export async function batchOutcomes(context: PartitionContext, batch: SentBatch): Promise<BatchOutcomes> {
  const { platformBatchId, tenant, records: sentRecords } = batch;
  const { status, processed } = await pollUntilProcessed(context, {
    platformBatchId,
    tenant,
    sent: sentRecords.length,
  });
  if (processed && isAllAccepted(status!, batch.records.length)) return ALL_ACCEPTED;
  const { externalIds } = batch.records;
  const failures = namedFailures(status?.errors?.recordErrors ?? [], new Set(externalIds));
  const proven = processed
    ? await provenOutcomes(context, batch, status!, failures)
    : await storedOutcomes(context, batch, status);
  await doubtUnknown(context, batch, proven);
  // The list makes new objects each time it is read, but parents are looked up by object: so they are made once.
  const records = [...batch.records];
  const open = records.filter(({ externalId }) => proven.get(externalId) !== 'accepted');
  const parentsOf = await missingParents(context, [batch], open);
  const listed = new Map((status?.pendingResources ?? []).map((pending) => [pending.resourceExternalId, pending]));
  const schemas = context.sync.spec.mappings.map((mapping) => mapping.schema.name);
  const outcomes = new Map<string, Outcome>();
  for (const record of records) {
    const { externalId } = record;
    const outcome: ProvenOutcome = proven.get(externalId) ?? 'unknown';
    if (outcome === 'accepted') outcomes.set(externalId, { kind: outcome });
    else if (outcome === 'pending')
      outcomes.set(externalId, pendingOutcome(listed.get(externalId), parentsOf(record).missing));
    else {
      const raw = outcome === 'rejected' ? messageAbout(externalId, failures) : '';
      outcomes.set(
        externalId,
        notAccepted(outcome, { raw, masked: maskedMessage(raw, record, schemas) }, parentsOf(record)),
      );
    }
  }
  return outcomes;
}

/** The platform may be keeping children whose outcome nothing proves: until it gives them up, newer content of theirs waits. */
async function doubtUnknown(
  context: PartitionContext,
  { id, tenantId, records }: SentBatch,
  proven: ReadonlyMap<string, ProvenOutcome>,
): Promise<void> {
  const { deps, partition } = context;
  const isUnknown = (index: number): boolean => (proven.get(records.externalIds[index]!) ?? 'unknown') === 'unknown';
  const { externalIds, contentHashes } = records.pick(isUnknown);
  if (id === null || dependencyWaitOf(context) === 0 || externalIds.length === 0) return;
  await deps.ledger.batches.doubt(partition, { tenantId, externalIds, contentHashes }, longestKept(context));
}

/**
 * Takes the missing parents from the platform if it names their schemas, else those that are known to be undelivered.
 */
function pendingOutcome(pending: PendingResource | undefined, undelivered: readonly ParentName[]): Outcome {
  const listed = pending?.missingDependencies ?? [];
  const named = listed.flatMap(({ schemaName, externalId }) =>
    schemaName == null ? [] : [{ schemaName, externalId }],
  );
  const missing = named.length > 0 && named.length === listed.length ? named : undelivered;
  return { kind: 'pending', missing, expiresAt: pending?.expiresAt ?? null };
}
