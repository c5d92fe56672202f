/** Reads due records again by their keys and delivers them; what has no hope becomes a dead letter with its reason. */
import type { MapResult } from '../src/domain/record.js';
import type { ParentName } from '../src/domain/parent.js';
import type { SourceKey } from '../src/domain/source.js';
import type { DeadLetter, RowEnd, WaitingRecord } from '../src/state/group-outcome.js';
import type { WaitingRow } from '../src/state/waiting.js';
import { adviseOrphan } from './advise-orphan.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import { refusedByPlatform, rowByRow } from './delivery.js';
import { orphan } from './orphan.js';
import { patience, TRIES } from './patience.js';
import { resultsOf, withResults, type Group } from '../src/reading/group.js';
import { readKeys } from './read-keys.js';
import { namesOf, parentKey, parentsOf, undeliveredParents } from './parents.js';
import { resolveParents } from './resolve-parents.js';
import type { UploadScope } from './upload-batch.js';

type Keyed = { readonly sourceKey: SourceKey };
const keyOf = ({ sourceKey }: Keyed): string => JSON.stringify(sourceKey);
const idOf = (row: { readonly tenantId: number; readonly externalId: string | null }): string =>
  `${row.tenantId}/${row.externalId ?? ''}`;

/** A row that is gone has nothing left to deliver. */
export async function readAgain(scope: UploadScope, due: readonly WaitingRow[]): Promise<void> {
  const byTries = new Map<number, WaitingRow[]>();
  for (const row of due) {
    const failed = row.reason === 'unclear' ? row.tries : 0;
    const same = byTries.get(failed);
    if (same === undefined) byTries.set(failed, [row]);
    else same.push(row);
  }
  for (const [failed, rows] of byTries) await deliverAgain(inSmallerBatches(scope, failed), rows);
}

/**
 * The same work in batches of a quarter of the size for each time that nobody could tell what became of the records: what
 * the platform counts of a batch is then said of fewer and fewer, in the end of one.
 */
function inSmallerBatches(scope: UploadScope, failed: number): UploadScope {
  if (failed === 0) return scope;
  const { mapping } = scope;
  const now = () => {
    const sizes = mapping.batches.now();
    return { ...sizes, batchSize: Math.max(1, Math.floor(sizes.batchSize / 4 ** failed)) };
  };
  return { ...scope, mapping: { ...mapping, batches: { ...mapping.batches, now } } };
}

async function deliverAgain(scope: UploadScope, due: readonly WaitingRow[]): Promise<void> {
  if (due.length === 0) return;
  const { deps, sync, mapping, range } = scope;
  const byKey = new Map(due.map((row) => [keyOf(row), row]));
  const keys = due.filter((row) => row.sourceKey.length > 0).map((row) => row.sourceKey);
  const { group, parked } = await withParents(
    scope,
    await readKeys(deps.ledger, sync, mapping, mapping.plan.key, keys),
    byKey,
  );
  await deliverAheadNow(scope, group);
  const delivery = rowByRow(await deliverGroup(scope, group));
  const ends = [...delivery.ends, ...parked.map((w): RowEnd => ({ ...w, column: 'waiting' }))];
  const ended = new Set(ends.map(idOf));
  const dead = new Set(ends.filter((end) => end.column === 'deadLettered').map(keyOf));
  // The row is gone, maps to another record now, or cannot be mapped at all any more.
  const over = due.filter((row) => !ended.has(idOf(row)));
  const hopeless = new Set(
    delivery.waiting.filter((w) => w.reason === 'unclear' && (byKey.get(keyOf(w))?.tries ?? 0) >= TRIES),
  );
  // The platform has refused it once more for want of its parent.
  const withPatience = (w: WaitingRecord): WaitingRecord =>
    w.reason === 'expired' ? { ...w, dueIn: patience((byKey.get(keyOf(w))?.tries ?? 0) + 1) } : w;
  const hopelessKeys = new Set([...hopeless].map(keyOf));
  const missing = await undeliveredParents(
    scope,
    [...group.records].filter((record) => hopelessKeys.has(keyOf(record))),
  );
  const missingOf = new Map([...missing].map(([record, parents]) => [keyOf(record), parents]));
  await deps.ledger.checkpoint(range, {
    ...delivery,
    reading: { kind: 'again', before: group.before, after: group.after },
    waiting: [...delivery.waiting.filter((w) => !hopeless.has(w)).map(withPatience), ...parked],
    deadLetters: [
      ...delivery.deadLetters,
      ...[...hopeless].map((w) => failedWithoutReason(w, missingOf.get(keyOf(w)) ?? [])),
    ],
    ends: [
      ...ends.map((end): RowEnd => (hopelessKeys.has(keyOf(end)) ? { ...end, column: 'deadLettered' } : end)),
      ...over.map((row): RowEnd => ({ ...row, column: dead.has(keyOf(row)) ? 'deadLettered' : 'unchanged' })),
    ],
    readTwice: 0,
    position: null,
    done: false,
  });
}

/**
 * Records that expired on the platform are sent again only if that can help: one whose parent will not come is a
 * dead letter, and so is one that was sent often enough while nobody could tell.
 */
async function withParents(
  scope: UploadScope,
  group: Group,
  byKey: ReadonlyMap<string, WaitingRow>,
): Promise<{ group: Group; parked: WaitingRecord[] }> {
  const expired = [...group.records].filter((r) => byKey.get(keyOf(r))?.reason === 'expired');
  if (expired.length === 0) return { group, parked: [] };
  const parents = new Map(expired.map((r) => [keyOf(r), parentsOf(scope.mapping, r)]));
  const fates = await resolveParents(scope, [...parents.values()].flat());
  const parked: WaitingRecord[] = [];
  const results = resultsOf(group).flatMap((result): MapResult[] => {
    const row = byKey.get(keyOf(result));
    const mine = parents.get(keyOf(result));
    if (result.kind !== 'record' || row === undefined || mine === undefined) return [result];
    const advice = adviseOrphan(row, mine, fates, scope.mapping.spec.options.dependencyWaitTimeout);
    if (advice.kind === 'send') return [result];
    const missing = mine.filter((parent) => fates.get(parentKey(parent)) !== 'there');
    const { tenantId, externalId, sourceKey, refusal } = row;
    if (advice.kind === 'give_up') {
      const others = missing.filter((parent) => parent !== advice.because);
      // Of the missing parent nothing is known: what the platform accuses it of is the better reason.
      return refusal !== null && advice.code === 'parent_unknown'
        ? [{ ...refusedByPlatform(result, refusal), missing: namesOf(missing) }]
        : [orphan(result, [advice.because, ...others], advice.code, refusal)];
    }
    parked.push({
      ...{ tenantId, externalId, sourceKey, refusal, reason: 'expired', missing: namesOf(missing) },
      ...{ batchId: null, contentHash: null, expiresAt: null, dueIn: advice.dueIn },
    });
    return [];
  });
  return { group: withResults(group, results), parked };
}

const failedWithoutReason = (
  { tenantId, externalId, sourceKey }: WaitingRecord,
  missing: readonly ParentName[],
): DeadLetter => ({
  ...{ tenantId, externalId, sourceKey, missing },
  ...{ code: 'platform_refused', pointer: '', rule: 'failed without a reason', shape: '' },
  reason: `sent ${TRIES + 1} times; the platform neither stored the record nor said why`,
});
