/** Delivers the parents that a sample's rows refer to, before the rows themselves; only those are fetched. */
import type { MappingRef } from '../src/domain/work.js';
import type { Dependencies } from './dependencies.js';
import { groupsOf, takeRange } from './load-slice.js';
import { parentKey, parentsOf } from './parents.js';
import { resolveParents } from './resolve-parents.js';

/** Parents that are looked up in one query. */
const PARENTS_AT_ONCE = 500;

export async function deliverParents(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<void> {
  const { ranges } = deps.ledger;
  const { mappingId } = await (await deps.openSync(ref.sync)).mapping(ref.mapping);
  for (const { id } of await ranges.planned(ref.runId, mappingId)) {
    const scope = await takeRange(deps, { ...ref, rangeId: id }, signal);
    for await (const { records } of groupsOf(scope)) {
      const parents = [...records].flatMap((r) => parentsOf(scope.mapping, r));
      const distinct = [...new Map(parents.map((parent) => [parentKey(parent), parent])).values()];
      for (let i = 0; i < distinct.length; i += PARENTS_AT_ONCE) {
        signal.throwIfAborted();
        await resolveParents(scope, distinct.slice(i, i + PARENTS_AT_ONCE));
      }
    }
  }
}
