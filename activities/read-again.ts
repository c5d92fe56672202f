/** Reads due records again by their keys and delivers them; what has no hope becomes a dead letter with its reason. */
import type { MapResult, UnmappableRow } from '../src/domain/record.js';
import { isParentCode, PARENT_REASONS, type ParentCode } from '../src/domain/parent.js';
import type { SourceKey } from '../src/domain/source.js';
import { maskedShape } from '../src/mapping/mask.js';
import type { DeadLetter, RowEnd, WaitingRecord } from '../src/state/group-outcome.js';
import type { WaitingRow } from '../src/state/waiting.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import { PARKED, patience, TRIES } from './patience.js';
import { resultsOf, withResults, type Group } from '../src/reading/group.js';
import { readKeys } from './read-keys.js';
import { parentKey, parentsOf, type MissedParent } from './parents.js';
import { resolveParents, type ParentFate } from './resolve-parents.js';
import type { UploadScope } from './upload-batch.js';

/** Seconds until a record is looked at again whose parent is on its way. */
const PARENT_COMES_IN = 2;

type Keyed = { readonly sourceKey: SourceKey };
const keyOf = ({ sourceKey }: Keyed): string => JSON.stringify(sourceKey);
const idOf = (row: { readonly tenantId: number; readonly externalId: string | null }): string =>
  `${row.tenantId}/${row.externalId ?? ''}`;

/** A row that is gone has nothing left to deliver. */
export async function readAgain(scope: UploadScope, due: readonly WaitingRow[]): Promise<void> {
  const failedBefore = (row: WaitingRow): boolean => row.reason === 'unclear' && row.tries > 0;
  await deliverAgain(
    scope,
    due.filter((row) => !failedBefore(row)),
  );
  await deliverAgain(alone(scope), due.filter(failedBefore));
}

/** The same work with a batch for each record: what the platform says of the batch is then said of the record. */
const alone = (scope: UploadScope): UploadScope => ({
  ...scope,
  mapping: {
    ...scope.mapping,
    batches: { ...scope.mapping.batches, now: () => ({ ...scope.mapping.batches.now(), batchSize: 1 }) },
  },
});

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
  await deps.ledger.checkpoint(range, {
    ...delivery,
    reading: { kind: 'again', before: group.before, after: group.after },
    waiting: [...delivery.waiting.filter((w) => !hopeless.has(w)).map(withPatience), ...parked],
    deadLetters: [...delivery.deadLetters, ...[...hopeless].map(failedWithoutReason)],
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
 * dead letter, and one that was sent often enough is parked until its parents are delivered.
 */
async function withParents(
  scope: UploadScope,
  group: Group,
  byKey: ReadonlyMap<string, WaitingRow>,
): Promise<{ group: Group; parked: WaitingRecord[] }> {
  const expired = [...group.records].filter((r) => byKey.get(keyOf(r))?.reason === 'expired');
  if (expired.length === 0) return { group, parked: [] };
  const parents = new Map(expired.map((r) => [keyOf(r), parentsOf(scope.mapping, r)]));
  const all = new Map([...parents.values()].flat().map((parent) => [parentKey(parent), parent]));
  const fates = await resolveParents(scope, [...all.values()]);
  const parked: WaitingRecord[] = [];
  const results = resultsOf(group).flatMap((result): MapResult[] => {
    const row = byKey.get(keyOf(result));
    const mine = parents.get(keyOf(result));
    if (result.kind !== 'record' || row === undefined || mine === undefined) return [result];
    for (const parent of mine) {
      const fate = fates.get(parentKey(parent)) ?? 'unknown';
      if (isParentCode(fate)) return [orphan(result, parent, fate)];
    }
    const is = (fate: ParentFate) => (parent: MissedParent) => fates.get(parentKey(parent)) === fate;
    // Where the platform does not wait for it, it would only be refused once more.
    const tooEarly = scope.mapping.spec.options.dependencyWaitTimeout === 0 && mine.some(is('coming'));
    if (mine.every(is('there')) || (row.tries < TRIES && !tooEarly)) return [result];
    const missing = mine.map(({ schemaName, externalId }) => ({ schemaName, externalId }));
    const again = {
      batchId: null,
      contentHash: null,
      missing,
      expiresAt: null,
      dueIn: row.tries < TRIES ? PARENT_COMES_IN : PARKED,
    };
    parked.push({
      ...{ tenantId: row.tenantId, externalId: row.externalId, sourceKey: row.sourceKey },
      reason: 'expired',
      ...again,
    });
    return [];
  });
  return { group: withResults(group, results), parked };
}

const orphan = (
  { tenant, externalId, sourceKey }: { readonly tenant: string; readonly externalId: string } & Keyed,
  parent: MissedParent,
  code: ParentCode,
): UnmappableRow => ({
  kind: 'unmappable',
  tenant,
  externalId,
  sourceKey,
  code,
  pointer: `/${parent.field}`,
  rule: `reference to ${parent.schemaName}`,
  reason: PARENT_REASONS[code],
  shape: maskedShape(parent.externalId),
});

const failedWithoutReason = ({ tenantId, externalId, sourceKey }: WaitingRecord): DeadLetter => ({
  tenantId,
  externalId,
  sourceKey,
  code: 'platform_refused',
  pointer: '',
  rule: 'failed without a reason',
  reason: `sent ${TRIES} times; the platform neither stored the record nor said why`,
  shape: '',
});
