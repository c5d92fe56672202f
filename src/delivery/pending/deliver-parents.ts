/** Delivers the parents that the rows of a sample refer to, before the rows themselves. */
import { acquirePartition, chunksOf } from '../partition-context.js';
import type { Dependencies } from '../dependencies.js';
import { distinctParents, parentsOf } from '../parents/parents.js';
import { resolveParents } from './resolve-parents.js';
import type { MappingRef } from '../../domain/run/work.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/**
 * Reads the planned rows of a mapping and delivers those of their parents that are not delivered yet, eldest first.
 * Only a sample needs it: other runs load whole mappings, parents before children. A second attempt begins again; what
 * was delivered by then is not sent a second time.
 */
export async function deliverParents(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<void> {
  const { partitions } = deps.ledger;
  const { mappingId } = await (await deps.openSync(ref.sync, ref.runId)).mapping(ref.mapping);
  for (const { id } of await partitions.planned(ref.runId, mappingId)) {
    const context = await acquirePartition(deps, { ...ref, partitionId: id }, signal);
    for await (const { records } of chunksOf(context)) {
      const parents = distinctParents([...records].flatMap((record) => parentsOf(context.mapping, record)));
      for (let i = 0; i < parents.length; i += LOOK_UP_ROWS) {
        signal.throwIfAborted();
        await resolveParents(context, parents.slice(i, i + LOOK_UP_ROWS));
      }
    }
  }
}
