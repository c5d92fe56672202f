/**
 * Follows one batch of which the platform held records back. A record that is neither listed as pending nor proved to be
 * accepted was let go, for whatever reason: it is read again, and gets its outcome from a fresh batch.
 */
import type { GroupOutcome, RowEnd, WaitingRecord } from '../src/state/group-outcome.js';
import type { OpenBatch } from '../src/state/open-batches.js';
import type { WaitingRow } from '../src/state/waiting.js';
import type { BatchStatus } from '../src/platform/contract/batches.js';
import { countedIn, type Counted } from './batch-status.js';
import type { HeldRecord } from './follow-parents.js';
import { patience } from './patience.js';
import { notStored } from './proven-fates.js';
import { readKeys } from './read-keys.js';
import type { UploadScope } from './upload-batch.js';

/** Answers the records that the platform holds still. */
export async function followBatch(scope: UploadScope, batch: OpenBatch): Promise<HeldRecord[]> {
  const { deps, range, signal } = scope;
  const status = await deps.platform.findBatch(batch.platformBatchId!, { tenant: batch.tenant, signal });
  const rows = new Map((await deps.ledger.waiting.ofBatch(batch.id)).map((row) => [row.externalId, row]));
  const counted = status === null ? null : countedIn(status, batch.externalIds, batch.records);
  // Records that are pending, and of which the platform does not say which they are.
  const unlisted = status === null ? 0 : status.progress.pendingRecords - counted!.listed.size;
  const open = batch.externalIds.filter((id) => counted?.listed.has(id) !== true);
  const stored = await storedOf(
    scope,
    batch,
    status,
    counted,
    open.flatMap((id) => rows.get(id) ?? []),
  );
  const build = startFollowing(batch);
  const held: HeldRecord[] = [];
  for (const externalId of batch.externalIds) {
    const row = rows.get(externalId);
    const expired = row?.expired === true;
    const pending = counted?.listed.get(externalId);
    if (pending === undefined && (counted?.others === 'accepted' || stored.has(externalId)))
      build.accepted(row, externalId);
    // The platform may list it for ever, or never: what it was asked to wait is over, so it has let it go.
    else if (pending !== undefined ? !expired : row !== undefined && !expired && (status === null || unlisted > 0))
      held.push({ batch, externalId, missing: row?.missing ?? [], pending: pending ?? null });
    else build.letGo(row, externalId);
  }
  if (held.length === batch.externalIds.length) return held;
  await deps.ledger.checkpoint(range, {
    ...build.outcome(),
    settled: held.length === 0 ? [batch.id] : [],
    held: held.length === 0 ? [] : [{ id: batch.id, externalIds: held.map((record) => record.externalId) }],
  });
  return held;
}

/** Those of the records that the platform has stored as they were sent; asked only where its counters say that some are. */
async function storedOf(
  scope: UploadScope,
  { tenant, records, externalIds }: OpenBatch,
  status: BatchStatus | null,
  counted: Counted | null,
  open: readonly WaitingRow[],
): Promise<ReadonlySet<string>> {
  if (status === null || counted === null || counted.others !== null) return new Set();
  const { successfulRecords, failedRecords } = status.progress;
  const settledBefore = records - externalIds.length;
  if (successfulRecords === 0 || successfulRecords + failedRecords <= settledBefore) return new Set();
  const { deps, sync, mapping } = scope;
  const sent = new Map(open.map((row) => [row.externalId, row.contentHash]));
  const keys = open.filter((row) => row.sourceKey.length > 0).map((row) => row.sourceKey);
  const group = await readKeys(deps.ledger, sync, mapping, mapping.plan.key, keys);
  const same = [...group.records].filter((r) => r.tenant === tenant && r.contentHash === sent.get(r.externalId));
  const absent = new Set((await notStored(scope, tenant, same)).map((r) => r.externalId));
  return new Set(same.map((r) => r.externalId).filter((id) => !absent.has(id)));
}

function startFollowing(batch: OpenBatch) {
  const { tenantId } = batch;
  const records: GroupOutcome['records'][number][] = [];
  const waiting: WaitingRecord[] = [];
  const ends: RowEnd[] = [];
  return {
    letGo(row: WaitingRow | undefined, externalId: string): void {
      records.push({ tenantId, externalId, contentHash: row?.contentHash ?? '', outcome: 'unclear' });
      // Without a key nobody counts on it: its row lies behind the position, or a later reading took its place.
      if (row === undefined || row.sourceKey.length === 0) {
        ends.push({ tenantId, externalId, sourceKey: [], column: 'unchanged' });
        return;
      }
      const { sourceKey, missing, tries } = row;
      waiting.push({
        ...{ tenantId, externalId, sourceKey, missing, reason: 'expired' },
        ...{ batchId: null, contentHash: null, expiresAt: null, dueIn: patience(tries) },
      });
      ends.push({ tenantId, externalId, sourceKey, column: 'waiting' });
    },
    accepted(row: WaitingRow | undefined, externalId: string): void {
      const contentHash = row?.contentHash ?? null;
      // What was sent is unknown only where somebody else has taken the record out of the batch.
      if (contentHash !== null) records.push({ tenantId, externalId, contentHash, outcome: 'accepted' });
      ends.push({ tenantId, externalId, sourceKey: row?.sourceKey ?? [], column: 'accepted' });
    },
    outcome: (): GroupOutcome => ({
      reading: {
        ...{ kind: 'held', batchId: batch.id, seen: batch.externalIds.length },
        ...{ before: batch.readStamp, after: batch.readStamp },
      },
      ...{ bulk: [], records, settled: [], held: [], waiting, deadLetters: [], ends },
      ...{ readTwice: 0, position: null, done: false },
    }),
  };
}
