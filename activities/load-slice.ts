/** Carries a range forward for one slice: read, map, validate, claim, upload, settle, checkpoint. */
import type { RangeRef, SliceResult } from '../src/domain/work.js';
import { deliverAhead } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import type { Dependencies, OpenMapping } from './dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { END_OF_RANGE, rowsOf, type GroupOutcome } from '../src/state/group-outcome.js';
import { lookUpOf, type LookUp } from '../src/mapping/look-up.js';
import { withTurns, type TakeTurn } from './group-turns.js';
import { rowsIn, type Group } from '../src/reading/group.js';
import { readKeys } from './read-keys.js';
import { recoverRange } from './recover-range.js';
import type { UploadScope } from './upload-batch.js';
import { assertVersion } from './version-of-run.js';

/** Milliseconds of one slice: long beside what dispatching an activity costs, short beside a deployment. */
const SLICE_TIME = 15_000;
const IDS_AT_ONCE = 500;

export async function loadSlice(deps: Dependencies, ref: RangeRef, signal: AbortSignal): Promise<SliceResult> {
  const scope = await takeRange(deps, ref, signal);
  if (!scope.range.done) await recoverRange(scope);
  const done = scope.range.done || (await load(scope));
  return { done, progress: await deps.ledger.books.progress(ref.runId) };
}

/** True when the range is read to its end. */
async function load(scope: UploadScope): Promise<boolean> {
  const { deps, signal } = scope;
  const deadline = performance.now() + SLICE_TIME;
  const groups = scope.range.externalIds === null ? groupsOf(scope) : readIds(scope, scope.range.externalIds);
  const done = await withTurns(`${scope.range.runId} ${scope.mapping.spec.name}`, (take) =>
    inOrder(groups, take, () => performance.now() < deadline && !signal.aborted, {
      start: (group) => (scope.range.ahead ? deliverAhead(scope, group) : deliver(scope, group)),
      finish: (group, outcome) =>
        deps.ledger.checkpoint(scope.range, { ...outcome, position: group.position, done: false }),
    }),
  );
  signal.throwIfAborted();
  if (done) await deps.ledger.checkpoint(scope.range, END_OF_RANGE);
  return done;
}

/** All of the range, or what is left of it. */
export const groupsOf = ({ deps, sync, mapping, range }: UploadScope): AsyncGenerator<Group> =>
  sync.groups(mapping, range, () => deps.ledger.stamp());

async function deliver(scope: UploadScope, group: Group): Promise<Omit<GroupOutcome, 'position' | 'done'>> {
  const delivery = await deliverGroup(scope, group);
  return {
    ...delivery,
    reading: { kind: 'first', before: group.before, after: group.after },
    readTwice: rowsIn(group) - rowsOf(delivery),
  };
}

export async function takeRange(deps: Dependencies, ref: RangeRef, signal: AbortSignal): Promise<UploadScope> {
  const sync = await deps.openSync(ref.sync, ref.runId);
  // A frozen worker may be handed attempts that are over already: those must not fence off the living one.
  signal.throwIfAborted();
  const range = await deps.ledger.ranges.take(ref.rangeId);
  assertVersion(range.runId, range.mappingVersion, sync.spec);
  return { deps, sync, mapping: await sync.mapping(ref.mapping), range, signal };
}

/**
 * Works on items as it gets turns, finishing them strictly in order: a position must not pass a group before the
 * groups ahead of it. True when all items are finished, false when `goOn` ended it. On an error no more is begun, and
 * everything that was begun is waited for first.
 */
async function inOrder<T, R>(
  items: AsyncGenerator<T>,
  take: TakeTurn,
  goOn: () => boolean,
  work: { start(item: T): Promise<R>; finish(item: T, result: R): Promise<void> },
): Promise<boolean> {
  let before: Promise<void> = Promise.resolve();
  let failed = false;
  const begin = (item: T): void => {
    const ahead = before;
    const started = work.start(item);
    before = (async () => {
      // Both are waited for whatever happens: nothing that was begun may outlive the attempt.
      const [result, order] = await Promise.allSettled([started, ahead]);
      if (order.status === 'rejected') throw order.reason;
      if (result.status === 'rejected') throw result.reason;
      await work.finish(item, result.value);
    })();
    before.catch(() => (failed = true));
  };
  let exhausted = false;
  try {
    do {
      const end = await take();
      try {
        // What it waited for may have failed.
        if (failed) break;
        const next = await items.next();
        if (next.done === true) exhausted = true;
        else begin(next.value);
      } finally {
        void Promise.allSettled([before]).then(end);
      }
    } while (!exhausted && goOn());
  } finally {
    await items.return(undefined);
    await Promise.allSettled([before]);
  }
  await before;
  return exhausted;
}

/** The rows of a backfill's external ids, which one column of the source must hold. The position is how many ids are done. */
async function* readIds(scope: UploadScope, externalIds: readonly string[]): AsyncGenerator<Group> {
  const { columns, values } = idLookUp(scope.mapping);
  for (let i = Number(scope.range.bounds.after?.key[0] ?? 0); i < externalIds.length; i += IDS_AT_ONCE) {
    const ids = [...new Set(externalIds.slice(i, i + IDS_AT_ONCE))].flatMap(values);
    const group = await readKeys(scope.deps.ledger, scope.sync, scope.mapping, columns, ids);
    yield { ...group, position: { cursor: null, key: [String(i + IDS_AT_ONCE)] } };
  }
}

function idLookUp({ spec }: OpenMapping): LookUp {
  const how = spec.fields.get(spec.schema.externalIdField)?.kind === 'column' ? lookUpOf(spec) : null;
  if (how?.certain === true) return how;
  throw new PartnerSyncError(
    'input_invalid',
    `mapping ${spec.name} builds its external id from a template or transforms, so rows cannot be found by it; use "from" and "to"`,
  );
}
