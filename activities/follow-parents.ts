/** What parents do for the children that wait for them: they are fetched, and children come back once they are there. */
import { isParentCode, type ParentName } from '../src/domain/parent.js';
import type { PendingResource } from '../src/platform/contract/batches.js';
import { resultsOf, rowsIn } from '../src/reading/group.js';
import type { LetterOfChild } from '../src/state/dead-letter-box.js';
import type { OpenBatch } from '../src/state/open-batches.js';
import type { WaitingRow } from '../src/state/waiting.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import { deliveredParents, parentKey, type MissedParent } from './parents.js';
import { readKeys } from './read-keys.js';
import { resolveParents } from './resolve-parents.js';
import type { UploadScope } from './upload-batch.js';

const AT_ONCE = 500;

/** A record that the platform holds for its parents. */
export interface HeldRecord {
  readonly batch: OpenBatch;
  readonly externalId: string;
  /** What the ledger says that it misses. */
  readonly missing: readonly ParentName[];
  /** What the platform says of it; null where it does not list it. */
  readonly pending: PendingResource | null;
}

/** Fetches what the held records miss, all at once, and notes of each whether its parents may come. */
export async function fetchParents(scope: UploadScope, held: readonly HeldRecord[]): Promise<void> {
  const missedBy = ({ batch: { tenant }, missing, pending }: HeldRecord): MissedParent[] => {
    const listed = (pending?.missingDependencies ?? []).map((d) => ({ ...d, schemaName: d.schemaName ?? '' }));
    return named(missing.length > 0 ? missing : listed, tenant);
  };
  const fates = await resolveParents(scope, held.flatMap(missedBy));
  const reasons = new Map<string, { batchId: string; reason: WaitingRow['reason']; externalIds: string[] }>();
  for (const record of held) {
    const bad = missedBy(record)
      .map((parent) => fates.get(parentKey(parent))!)
      .find(isParentCode);
    const reason = bad ?? 'dependency';
    const key = `${record.batch.id} ${reason}`;
    const same = reasons.get(key);
    if (same === undefined) reasons.set(key, { batchId: record.batch.id, reason, externalIds: [record.externalId] });
    else same.externalIds.push(record.externalId);
  }
  for (const { batchId, reason, externalIds } of reasons.values())
    await scope.deps.ledger.waiting.name(batchId, reason, externalIds);
}

/** Makes expired records due whose parents are all delivered by now. */
export async function wakeChildren(scope: UploadScope, now: string): Promise<void> {
  const { waiting } = scope.deps.ledger;
  const { mappingId } = scope.mapping;
  for (let after: Pick<WaitingRow, 'tenantId' | 'externalId'> = { tenantId: 0, externalId: '' }; ;) {
    const rows: readonly WaitingRow[] = await waiting.parked(mappingId, now, after, AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return;
    const free = await freed(scope, rows);
    if (free.length > 0) await waiting.wake(mappingId, free);
    after = last;
  }
}

/**
 * Reads and delivers the rows of dead letters again that lacked parents which are all delivered by now, whatever the
 * letters say; closes those of rows that are gone. Again and again, since each may be the parent of another one.
 */
export async function reviveOrphans(scope: UploadScope): Promise<void> {
  while (await reviveGeneration(scope));
}

/** Whether there were any. */
async function reviveGeneration(scope: UploadScope): Promise<boolean> {
  let any = false;
  const { deps, sync, mapping, range, signal } = scope;
  const { ledger } = deps;
  const through = await ledger.deadLetters.newest(mapping.mappingId);
  for (let after = '0'; ;) {
    signal.throwIfAborted();
    const bounds = { after, through, limit: AT_ONCE };
    const letters: readonly LetterOfChild[] = await ledger.deadLetters.ofChildren(mapping.mappingId, bounds);
    const last = letters.at(-1);
    if (last === undefined) return any;
    after = last.id;
    const free = await freed(scope, letters);
    if (free.length === 0) continue;
    any = true;
    const keys = free.map((letter) => letter.sourceKey);
    const group = await readKeys(ledger, sync, mapping, mapping.plan.key, keys);
    const found = new Set(resultsOf(group).map((result) => JSON.stringify(result.sourceKey)));
    const gone = free.filter((letter) => !found.has(JSON.stringify(letter.sourceKey)));
    await ledger.deadLetters.close(
      mapping.mappingId,
      gone.map((letter) => letter.id),
      group.before,
    );
    if (found.size === 0) continue;
    await deliverAheadNow(scope, group);
    const delivery = rowByRow(await deliverGroup(scope, group));
    await ledger.checkpoint(range, {
      ...delivery,
      reading: { kind: 'first', before: group.before, after: group.after },
      readTwice: rowsIn(group) - delivery.ends.length,
      position: null,
      done: false,
    });
  }
}

/** Those of the records whose missing parents are all there. */
async function freed<R extends { readonly tenantId: number; readonly missing: readonly ParentName[] }>(
  scope: UploadScope,
  records: readonly R[],
): Promise<R[]> {
  const tenants = await scope.deps.ledger.catalog.tenantNames([...new Set(records.map((r) => r.tenantId))]);
  const missedBy = (record: R): MissedParent[] => named(record.missing, tenants.get(record.tenantId) ?? '');
  const there = await deliveredParents(scope, records.flatMap(missedBy));
  return records.filter((r) => r.missing.length > 0 && missedBy(r).every((parent) => there.has(parentKey(parent))));
}

const named = (parents: readonly ParentName[], tenant: string): MissedParent[] =>
  parents.map(({ schemaName, externalId }) => ({ schemaName, externalId, tenant, field: '' }));
