/**
 * Polls one batch with pending records. A record that is neither listed as pending nor proved to be accepted was
 * dropped by the platform, for whatever reason: it is read and sent again, and gets its outcome from another batch.
 */
import type { ParentName } from '../../domain/records/parent.js';
import type { OpenBatch } from '../../ledger/batches/batches.js';
import type { RowOutcome } from '../../ledger/outcomes/row-outcomes.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';
import {
  isRowKnown,
  NO_ROW_READ,
  queuedWithoutParents,
  type QueuedRecord,
  type WaitingRow,
} from '../../ledger/waiting/index.js';
import { countsOf } from '../../platform/batch-progress.js';
import type { BatchStatus, PendingResource } from '../../platform/contract/batches.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import { platformIdOf, provenByCounters, statusOf, type CounterProof } from '../upload/batch-status.js';
import type { PartitionContext } from '../partition-context.js';
import { longestInDoubt } from '../upload/recover-partition.js';
import { notStored } from '../upload/not-stored.js';
import { retryDelay } from '../parents/retry-delay.js';
import { writeCheckpoint } from '../write-checkpoint.js';

/** `sent since`: another batch has the record by now. */
type PolledOutcome = 'accepted' | 'pending' | 'dropped' | 'sent since';

/** A record that the platform keeps pending for its parents. */
export interface PendingChild {
  readonly batch: OpenBatch;
  readonly externalId: string;
  /** The parents that it lacks according to the ledger. */
  readonly missing: readonly ParentName[];
  /** What the platform says about it; null if it does not list it. */
  readonly listed: PendingResource | null;
}

/**
 * Writes what has become of the batch's records, and returns those that are still pending. Of a batch in doubt, which has no
 * id, they are as long as the platform may keep them.
 */
export async function pollBatch(context: PartitionContext, batch: OpenBatch): Promise<PendingChild[]> {
  const { deps } = context;
  const platformId = platformIdOf(batch);
  const status = platformId === null ? null : await statusOf(context, platformId, batch.tenant);
  const rows = new Map((await deps.ledger.waiting.ofBatch(batch.id)).map((row) => [row.externalId, row]));
  const counted = status === null ? null : provenByCounters(status, batch.externalIds, batch.records);
  const open = batch.externalIds.filter((id) => counted?.listed.has(id) !== true);
  const openRows = open.flatMap((id) => rows.get(id) ?? []);
  const stored = await storedOf(context, batch, status, counted, openRows);

  const outcomeOf = (externalId: string): PolledOutcome => {
    const row = rows.get(externalId);
    if (platformId === null && row === undefined) return 'sent since';
    const isListed = counted?.listed.has(externalId) === true;
    if (!isListed && (counted?.outcomeOfUnlisted === 'accepted' || stored.has(externalId))) return 'accepted';
    // The platform was asked to keep it until now at most, whatever it lists.
    if (row?.isDue === true) return 'dropped';
    if (isListed || (row !== undefined && (counted === null || counted.unlistedPending > 0))) return 'pending';
    return 'dropped';
  };
  const outcomes = new Map(batch.externalIds.map((id) => [id, outcomeOf(id)]));
  const pending = batch.externalIds.filter((id) => outcomes.get(id) === 'pending');
  if (pending.length < batch.externalIds.length) await writeChanges(context, batch, rows, outcomes, pending);
  return pending.map((externalId) => ({
    batch,
    externalId,
    missing: rows.get(externalId)?.missing ?? [],
    listed: counted?.listed.get(externalId) ?? null,
  }));
}

/** Reads back which records the platform has stored as they were sent, if the counters say that there are any. */
async function storedOf(
  context: PartitionContext,
  { tenant, records, externalIds }: OpenBatch,
  status: BatchStatus | null,
  counted: CounterProof | null,
  open: readonly WaitingRow[],
): Promise<ReadonlySet<string>> {
  if (status === null || counted === null || counted.outcomeOfUnlisted !== null) return new Set();
  const { successfulRecords, failedRecords } = countsOf(status);
  const settledEarlier = records - externalIds.length;
  if (successfulRecords === 0 || successfulRecords + failedRecords <= settledEarlier) return new Set();
  const { deps, sync, mapping } = context;
  const sent = new Map(open.map((row) => [row.externalId, row.contentHash]));
  const keys = open.filter(isRowKnown).map((row) => row.sourceKey);
  const chunk = await readChunkByValues(deps.ledger, sync, mapping, mapping.plan.key, keys);
  const same = [...chunk.records].filter((r) => r.tenant === tenant && r.contentHash === sent.get(r.externalId));
  const absent = new Set(
    (await notStored(context, tenant, same, { isProcessed: false })).map(({ record }) => record.externalId),
  );
  return new Set(same.map((r) => r.externalId).filter((id) => !absent.has(id)));
}

async function writeChanges(
  context: PartitionContext,
  batch: OpenBatch,
  rows: ReadonlyMap<string, WaitingRow>,
  outcomes: ReadonlyMap<string, PolledOutcome>,
  pending: readonly string[],
): Promise<void> {
  const { tenantId } = batch;
  const sent: SentRecord[] = [];
  const waiting: QueuedRecord[] = [];
  const rowOutcomes: RowOutcome[] = [];
  for (const [externalId, outcome] of outcomes) {
    const row = rows.get(externalId);
    const sourceKey = row?.sourceKey ?? NO_ROW_READ;
    if (outcome === 'accepted') {
      const contentHash = row?.contentHash ?? null;
      // There is no hash only if another checkpoint has taken the record out of the batch.
      if (contentHash !== null) sent.push({ tenantId, externalId, contentHash, outcome });
      rowOutcomes.push({ tenantId, externalId, sourceKey, outcome });
    } else if (outcome === 'dropped') {
      sent.push({ tenantId, externalId, contentHash: row?.contentHash ?? '', outcome: 'unknown' });
      // Without a key it need not wait: its row will be read in its partition's order, or a later reading has replaced
      // it.
      const isAwaited = row !== undefined && isRowKnown(row);
      if (isAwaited) waiting.push(queuedWithoutParents(row, row.missing, retryDelay(row.tries)));
      rowOutcomes.push({ tenantId, externalId, sourceKey, outcome: isAwaited ? 'waiting' : 'unchanged' });
    }
  }
  await doubtDropped(context, batch, sent);
  await writeCheckpoint(context, { kind: 'poll', batch, pending, result: { rowOutcomes, sent, waiting } });
}

/**
 * The platform may have got an earlier copy of the batch, in doubt, and somewhat later: then it keeps that one longer than those that it
 * has dropped.
 */
async function doubtDropped(
  { deps, sync, partition }: PartitionContext,
  batch: OpenBatch,
  sent: readonly SentRecord[],
): Promise<void> {
  const dropped = sent.filter(({ outcome, contentHash }) => outcome === 'unknown' && contentHash !== '');
  if (dropped.length === 0 || platformIdOf(batch) === null) return;
  const externalIds = dropped.map((record) => record.externalId);
  const contentHashes = dropped.map((record) => record.contentHash);
  const { tenantId } = batch;
  await deps.ledger.batches.doubt(partition, { tenantId, externalIds, contentHashes }, longestInDoubt(sync));
}
