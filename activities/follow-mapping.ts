/** Looks after a mapping's waiting records: follows what the platform holds, and reads again what is due. */
import type { FollowResult, MappingRef } from '../src/domain/work.js';
import type { GroupOutcome, RowEnd, WaitingRecord } from '../src/state/group-outcome.js';
import type { OpenBatch } from '../src/state/open-batches.js';
import type { WaitingRow } from '../src/state/waiting.js';
import type { Dependencies } from './dependencies.js';
import { takeRange } from './load-slice.js';
import { fetchParents, hasOrphans, reviveOrphans, wakeChildren } from './follow-parents.js';
import { patience } from './patience.js';
import { readAgain } from './read-again.js';
import { recoverRange } from './recover-range.js';
import type { ParentFate } from './resolve-parents.js';
import { fatesOf } from './settle-batch.js';
import type { UploadScope } from './upload-batch.js';

const DUE_AT_ONCE = 500;

export async function followMapping(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<FollowResult> {
  const sync = await deps.openSync(ref.sync, ref.runId);
  const { mappingId } = await sync.mapping(ref.mapping);
  const before = await deps.ledger.waiting.outlook(mappingId, ref.runId);
  if (before.waiting === 0 && !(await hasOrphans(deps, mappingId))) return before;
  const rangeId = await deps.ledger.ranges.forFollowing(ref.runId, mappingId);
  const scope = await takeRange(deps, { ...ref, rangeId }, signal);
  await recoverRange(scope);
  const fates = new Map<string, ParentFate>();
  for (const batch of await deps.ledger.batches.waitingOf(mappingId)) {
    signal.throwIfAborted();
    await followBatch(scope, batch, fates);
  }
  await wakeChildren(scope, await deps.ledger.waiting.now());
  // What is handled is due again later than now, so that the loop ends however long a round takes.
  const now = await deps.ledger.waiting.now();
  for (;;) {
    signal.throwIfAborted();
    const due = await deps.ledger.waiting.due(mappingId, now, DUE_AT_ONCE);
    if (due.length === 0) break;
    await readAgain(scope, due);
  }
  await reviveOrphans(scope);
  return deps.ledger.waiting.outlook(mappingId, ref.runId);
}

/** Moves a held batch on by what the platform says of it now. */
async function followBatch(scope: UploadScope, batch: OpenBatch, parents: Map<string, ParentFate>): Promise<void> {
  const { deps, range, signal } = scope;
  const status = await deps.platform.findBatch(batch.platformBatchId!, { tenant: batch.tenant, signal });
  const rows = new Map((await deps.ledger.waiting.ofBatch(batch.id)).map((row) => [row.externalId, row]));
  const build = startFollowing();
  const still: string[] = [];
  const pending = new Map((status?.pendingResources ?? []).map((p) => [p.resourceExternalId, p]));
  const fates = status === null ? new Map<string, never>() : fatesOf(status, batch.externalIds, batch.records);
  const complete = status !== null && status.completedAt != null;
  for (const externalId of batch.externalIds) {
    const row = rows.get(externalId);
    const wait = pending.get(externalId);
    const fate = fates.get(externalId);
    if (wait !== undefined) {
      still.push(externalId);
    } else if (fate?.kind === 'rejected') {
      // Refused after waiting: expired for want of its parent, or invalid. Either way the row is read again, each
      // time with less haste, and gets its outcome from a fresh batch.
      build.sendAgain(row, batch.tenantId, externalId, 'expired', patience(row?.tries ?? 0));
    } else if (fate?.kind === 'accepted') {
      build.accepted(row, batch.tenantId, externalId);
    } else if (complete || row?.expired === true) {
      build.sendAgain(row, batch.tenantId, externalId, 'unclear', 0);
    } else {
      still.push(externalId);
    }
  }
  await fetchParents(scope, batch, [...pending.values()], parents);
  if (still.length === batch.externalIds.length) return;
  await deps.ledger.checkpoint(range, {
    ...build.outcome(batch),
    settled: still.length === 0 ? [batch.id] : [],
    held: still.length === 0 ? [] : [{ id: batch.id, externalIds: still }],
  });
}

function startFollowing() {
  const records: GroupOutcome['records'][number][] = [];
  const waiting: WaitingRecord[] = [];
  const ends: RowEnd[] = [];
  const sendAgain = (
    row: WaitingRow | undefined,
    tenantId: number,
    externalId: string,
    reason: 'expired' | 'unclear',
    dueIn: number,
  ): void => {
    records.push({ tenantId, externalId, contentHash: row?.contentHash ?? '', outcome: 'unclear' });
    // Without a key nobody counts on it: its row lies behind the position, or a later reading took its place.
    if (row === undefined || row.sourceKey.length === 0) {
      ends.push({ tenantId, externalId, sourceKey: [], column: 'unchanged' });
      return;
    }
    const { sourceKey } = row;
    const again = { batchId: null, contentHash: null, missing: row.missing, expiresAt: null };
    waiting.push({ tenantId, externalId, sourceKey, reason, ...again, dueIn });
    ends.push({ tenantId, externalId, sourceKey, column: 'waiting' });
  };
  return {
    sendAgain,
    accepted(row: WaitingRow | undefined, tenantId: number, externalId: string): void {
      const contentHash = row?.contentHash ?? null;
      // What was sent is unknown only where somebody else has taken the record out of the batch.
      if (contentHash !== null) records.push({ tenantId, externalId, contentHash, outcome: 'accepted' });
      ends.push({ tenantId, externalId, sourceKey: row?.sourceKey ?? [], column: 'accepted' });
    },
    outcome: (batch: OpenBatch): GroupOutcome => ({
      reading: {
        ...{ kind: 'held', batchId: batch.id, seen: batch.externalIds.length },
        ...{ before: batch.readStamp, after: batch.readStamp },
      },
      bulk: [],
      records,
      settled: [],
      held: [],
      waiting,
      deadLetters: [],
      ends,
      readTwice: 0,
      position: null,
      done: false,
    }),
  };
}
