/** What parents do for the children that wait for them: they are fetched, and children come back once they are there. */
import { isParentCode, PARENT_CODES } from '../src/domain/parent.js';
import type { PendingResource } from '../src/platform/contract/batches.js';
import type { OpenBatch } from '../src/state/open-batches.js';
import type { WaitingRow } from '../src/state/waiting.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import { withResults } from '../src/reading/group.js';
import { readKeys } from './read-keys.js';
import { deliveredParents, parentKey, parentsOf } from './parents.js';
import { resolveParents, type ParentFate } from './resolve-parents.js';
import type { UploadScope } from './upload-batch.js';

const AT_ONCE = 500;
/** Ids of dead letters are bigints. */
const LAST = '9223372036854775807';

/** Whether some record of the mapping is a dead letter because of its parent. */
export async function hasOrphans({ ledger }: UploadScope['deps'], mappingId: number): Promise<boolean> {
  const bounds = { after: '0', through: LAST, limit: 1 };
  return (await ledger.deadLetters.keys(mappingId, { codes: PARENT_CODES }, bounds)).length > 0;
}

/** Fetches what the records of a held batch miss. `fates`: what is known already in this round. */
export async function fetchParents(
  scope: UploadScope,
  batch: OpenBatch,
  pending: readonly PendingResource[],
  fates: Map<string, ParentFate>,
): Promise<void> {
  const missedBy = (record: PendingResource) =>
    record.missingDependencies.map((d) => ({
      tenant: batch.tenant,
      field: '',
      schemaName: d.schemaName ?? '',
      externalId: d.externalId,
    }));
  const missed = new Map(pending.flatMap(missedBy).map((parent) => [parentKey(parent), parent]));
  const open = [...missed].filter(([key]) => !fates.has(key)).map(([, parent]) => parent);
  for (const [key, fate] of await resolveParents(scope, open)) fates.set(key, fate);
  const named = new Map<WaitingRow['reason'], string[]>();
  for (const record of pending) {
    const bad = missedBy(record)
      .map((parent) => fates.get(parentKey(parent))!)
      .find(isParentCode);
    const reason = bad ?? 'dependency';
    const same = named.get(reason);
    if (same === undefined) named.set(reason, [record.resourceExternalId]);
    else same.push(record.resourceExternalId);
  }
  for (const [reason, ids] of named) await scope.deps.ledger.waiting.name(batch.id, reason, ids);
}

/** Makes expired records due whose parents are all delivered by now. */
export async function wakeChildren(scope: UploadScope, now: string): Promise<void> {
  const { waiting } = scope.deps.ledger;
  const { mappingId } = scope.mapping;
  for (let after: Pick<WaitingRow, 'tenantId' | 'externalId'> = { tenantId: 0, externalId: '' }; ;) {
    const rows: readonly WaitingRow[] = await waiting.parked(mappingId, now, after, AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return;
    const tenants = await scope.deps.ledger.catalog.tenantNames([...new Set(rows.map((row) => row.tenantId))]);
    const missed = (row: WaitingRow) =>
      row.missing.map((m) => ({ ...m, field: '', tenant: tenants.get(row.tenantId) ?? '' }));
    const there = await deliveredParents(scope, rows.flatMap(missed));
    const free = rows.filter((row) => row.missing.length > 0 && missed(row).every((m) => there.has(parentKey(m))));
    if (free.length > 0) await waiting.wake(mappingId, free);
    after = last;
  }
}

/** Delivers dead letters of the kind "parent ..." whose parents are all delivered by now; closes those of rows that are gone. */
export async function reviveOrphans(scope: UploadScope): Promise<void> {
  const { deps, sync, mapping, range, signal } = scope;
  const { ledger } = deps;
  const through = await ledger.deadLetters.newest(mapping.mappingId);
  for (let after = '0'; ;) {
    signal.throwIfAborted();
    const letters = await ledger.deadLetters.keys(
      mapping.mappingId,
      { codes: PARENT_CODES },
      { after, through, limit: AT_ONCE },
    );
    const last = letters.at(-1);
    if (last === undefined) return;
    after = last.id;
    const keys = letters.map((l) => l.sourceKey);
    const group = await readKeys(ledger, sync, mapping, mapping.plan.key, keys);
    const records = [...group.records];
    const there = await deliveredParents(
      scope,
      records.flatMap((r) => parentsOf(mapping, r)),
    );
    const free = records.filter((r) => parentsOf(mapping, r).every((p) => there.has(parentKey(p))));
    if (free.length === 0) continue;
    const delivery = rowByRow(await deliverGroup(scope, withResults(group, free)));
    await ledger.checkpoint(range, {
      ...delivery,
      reading: { kind: 'first', before: group.before, after: group.after },
      readTwice: free.length - delivery.ends.length,
      position: null,
      done: false,
    });
  }
}
