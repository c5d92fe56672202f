/**
 * Polls one batch with pending records. The platform has let go of a record that is neither listed as pending nor
 * proved to be accepted, for whatever reason: it is read and sent again, and gets its outcome from another batch.
 */
import type { OpenBatch } from '../../ledger/batches/batches.js';
import type { RowOutcome } from '../../ledger/outcomes/row-outcomes.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';
import type { WaitingRow } from '../../ledger/undelivered/waiting.js';
import { queuedWithoutParents, type QueuedRecord } from '../../ledger/undelivered/waiting-record.js';
import type { BatchStatus } from '../../platform/contract/batches.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import { countedIn, statusOf, type Counted } from '../upload/batch-status.js';
import type { PartitionContext } from '../partition-context.js';
import { notStored } from '../upload/proven-outcomes.js';
import type { PendingChild } from './retry-children.js';
import { retryDelay } from '../chunk/retry-delay.js';

type PolledOutcome = 'accepted' | 'pending' | 'let_go';

/** Writes what has become of the batch's records, and returns those that are still pending. */
export async function pollBatch(context: PartitionContext, batch: OpenBatch): Promise<PendingChild[]> {
  const { deps } = context;
  const status = await statusOf(context, batch.platformBatchId!, batch.tenant);
  const rows = new Map((await deps.ledger.waiting.ofBatch(batch.id)).map((row) => [row.externalId, row]));
  const counted = status === null ? null : countedIn(status, batch.externalIds, batch.records);
  // How many records are counted as pending without being listed.
  const unlisted = status === null ? 0 : status.progress.pendingRecords - counted!.listed.size;
  const open = batch.externalIds.filter((id) => counted?.listed.has(id) !== true);
  const openRows = open.flatMap((id) => rows.get(id) ?? []);
  const stored = await storedOf(context, batch, status, counted, openRows);

  const outcomeOf = (externalId: string): PolledOutcome => {
    const row = rows.get(externalId);
    const isListed = counted?.listed.has(externalId) === true;
    if (!isListed && (counted?.others === 'accepted' || stored.has(externalId))) return 'accepted';
    // The platform was asked to keep it until now at most, whatever it lists.
    if (row?.isDue === true) return 'let_go';
    if (isListed || (row !== undefined && (status === null || unlisted > 0))) return 'pending';
    return 'let_go';
  };
  const outcomes = new Map(batch.externalIds.map((id) => [id, outcomeOf(id)]));
  const pending = batch.externalIds.filter((id) => outcomes.get(id) === 'pending');
  if (pending.length < batch.externalIds.length) await writeChanges(context, batch, rows, outcomes, pending);
  return pending.map((externalId) => ({
    batch,
    externalId,
    missing: rows.get(externalId)?.missing ?? [],
    pending: counted?.listed.get(externalId) ?? null,
  }));
}

/** Reads back which records the platform has stored as they were sent, if the counters say that there are any. */
async function storedOf(
  context: PartitionContext,
  { tenant, records, externalIds }: OpenBatch,
  status: BatchStatus | null,
  counted: Counted | null,
  open: readonly WaitingRow[],
): Promise<ReadonlySet<string>> {
  if (status === null || counted === null || counted.others !== null) return new Set();
  const { successfulRecords, failedRecords } = status.progress;
  const settledEarlier = records - externalIds.length;
  if (successfulRecords === 0 || successfulRecords + failedRecords <= settledEarlier) return new Set();
  const { deps, sync, mapping } = context;
  const sent = new Map(open.map((row) => [row.externalId, row.contentHash]));
  const keys = open.filter((row) => row.sourceKey.length > 0).map((row) => row.sourceKey);
  const chunk = await readChunkByValues(deps.ledger, sync, mapping, mapping.plan.key, keys);
  const same = [...chunk.records].filter((r) => r.tenant === tenant && r.contentHash === sent.get(r.externalId));
  const absent = new Set((await notStored(context, tenant, same)).map((r) => r.externalId));
  return new Set(same.map((r) => r.externalId).filter((id) => !absent.has(id)));
}

async function writeChanges(
  { deps, partition }: PartitionContext,
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
    const sourceKey = row?.sourceKey ?? [];
    if (outcome === 'accepted') {
      const contentHash = row?.contentHash ?? null;
      // There is no hash only if another checkpoint has taken the record out of the batch.
      if (contentHash !== null) sent.push({ tenantId, externalId, contentHash, outcome });
      rowOutcomes.push({ tenantId, externalId, sourceKey, outcome });
    } else if (outcome === 'let_go') {
      sent.push({ tenantId, externalId, contentHash: row?.contentHash ?? '', outcome: 'unknown' });
      // Without a key it need not wait: its row will be read in its partition's order, or a later reading has replaced
      // it.
      const isAwaited = row !== undefined && sourceKey.length > 0;
      if (isAwaited) waiting.push(queuedWithoutParents(row, row.missing, retryDelay(row.tries)));
      rowOutcomes.push({ tenantId, externalId, sourceKey, outcome: isAwaited ? 'waiting' : 'unchanged' });
    }
  }
  await deps.ledger.checkpoint(partition, { kind: 'poll', batch, pending, result: { rowOutcomes, sent, waiting } });
}
