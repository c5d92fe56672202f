/** What a mirror run does once every row is read: records whose rows are gone are marked as the mapping says. */
import type { SourceKey } from '../src/domain/source.js';
import type { DeletesSpec } from '../src/domain/sync.js';
import type { MappingRef, SliceResult } from '../src/domain/work.js';
import { deletedRecords } from '../src/mapping/deleted-record.js';
import { END_OF_RANGE } from '../src/state/group-outcome.js';
import type { OpenPlan, RemovalKey, TenantRemovals } from '../src/state/removals.js';
import { deliverGroup } from './deliver-group.js';
import type { Dependencies } from './dependencies.js';
import { assertFindable, findVanished, isEmpty, withoutRows } from './find-vanished.js';
import { removalOf } from './removal.js';
import { takeRange } from './load-slice.js';
import { withResults } from '../src/reading/group.js';
import { recoverRange } from './recover-range.js';
import type { UploadScope } from './upload-batch.js';

/** Milliseconds of one slice, as in load-slice.ts. */
const SLICE_TIME = 15_000;
const RECORDS_AT_ONCE = 500;

export async function removeVanished(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<SliceResult> {
  const { removals, ranges, books } = deps.ledger;
  const deadline = performance.now() + SLICE_TIME;
  const goesOn = (): boolean => performance.now() < deadline && !signal.aborted;
  const sync = await deps.openSync(ref.sync, ref.runId);
  const mapping = await sync.mapping(ref.mapping);
  const finished = async (done: boolean): Promise<SliceResult> => ({ done, progress: await books.progress(ref.runId) });

  const { deletes } = mapping.spec;
  if (deletes === null || deletes.action === 'ignore') return finished(true);
  const open = () => removals.open(ref.runId, mapping.mappingId, deletedRecords(mapping.spec).json('0'));
  let plan = await open();
  if (plan.state === 'finding') {
    await assertFindable(sync, mapping);
    // An empty source says that something went wrong with it, not that everything was deleted.
    let empty = await isEmpty(sync, mapping);
    if (!empty && !(await findVanished(deps, sync, mapping, plan, { runId: ref.runId, goesOn })))
      return finished(false);
    empty ||= await isEmpty(sync, mapping);
    const tenants = await removals.count(plan);
    const total = totalOf(tenants);
    const state = empty ? 'empty' : isTooMuch([...tenants, total], deletes.hold) ? 'held' : 'due';
    await removals.decide(plan, state, { records: total.records, accepted: total.accepted });
    plan = await open();
  }
  if (plan.state !== 'due') return finished(true);
  const rangeId = await ranges.forRemoving(ref.runId, mapping.mappingId);
  const scope = await takeRange(deps, { ...ref, rangeId }, signal);
  await recoverRange(scope);
  const done = scope.range.done || (await carryOut(scope, plan, goesOn));
  if (done) await removals.finish(plan);
  return finished(done);
}

const totalOf = (tenants: readonly TenantRemovals[]): TenantRemovals => {
  const sum = (column: keyof TenantRemovals): number => tenants.reduce((n, tenant) => n + tenant[column], 0);
  return { records: sum('records'), unapproved: sum('unapproved'), accepted: sum('accepted') };
};

/** Of all tenants together, or of any one of them. */
const isTooMuch = (counts: readonly TenantRemovals[], hold: DeletesSpec['hold']): boolean =>
  counts.some((c) => c.unapproved > hold.records && c.unapproved > (c.accepted * hold.percent) / 100);

/** Marks the plan's records behind the range's position, until `goesOn` ends it; true at the end of the plan. */
async function carryOut(scope: UploadScope, plan: OpenPlan, goesOn: () => boolean): Promise<boolean> {
  const { deps, sync, mapping, range } = scope;
  const { ledger } = deps;
  let after = keyAt(range.bounds.after?.key);
  while (goesOn()) {
    const keys = await ledger.removals.page(plan.id, after, RECORDS_AT_ONCE);
    const last = keys.at(-1);
    if (last === undefined) {
      await ledger.checkpoint(range, END_OF_RANGE);
      return true;
    }
    const before = await ledger.stamp();
    // The row is the truth: it may be back.
    const gone = await withoutRows(sync, mapping, keys);
    const position = { cursor: null, key: [String(last.tenantId), last.externalId] };
    const group = withResults(
      { before, after: await ledger.stamp(), position },
      gone.map((r) => removalOf(mapping, r)),
    );
    const reading = { kind: 'first', before, after: group.after } as const;
    await ledger.checkpoint(range, {
      ...(await deliverGroup(scope, group)),
      reading,
      readTwice: 0,
      position,
      done: false,
    });
    after = last;
  }
  return false;
}

const keyAt = (position: SourceKey | undefined): RemovalKey | null =>
  position === undefined ? null : { tenantId: Number(position[0]), externalId: position[1]! };
