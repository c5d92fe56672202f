/** Marks records whose rows are gone as the mapping says, once a mirror run has read every row. */
import { milliseconds } from '../../domain/timeouts.js';
import type { Dependencies } from '../dependencies.js';
import { acquirePartition, openSyncOf } from '../partition-context.js';
import { recoverPartition } from '../upload/recover-partition.js';
import { carryOutPlan } from './carry-out-plan.js';
import { planRemovals } from './plan-removals.js';
import type { LoadResult, MappingRef } from '../../domain/work.js';

/** The workflow starts the activity again, as another load, until it returns `done`. */
export async function removeVanished(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<LoadResult> {
  const { removals, partitions, counts } = deps.ledger;
  const deadline = performance.now() + milliseconds('loadTime');
  const goesOn = (): boolean => performance.now() < deadline && !signal.aborted;
  const sync = await openSyncOf(deps, ref);
  const mapping = await sync.mapping(ref.mapping);
  const finished = async (done: boolean): Promise<LoadResult> => ({ done, progress: await counts.progress(ref.runId) });

  if (mapping.spec.deletes === null || mapping.spec.deletes.action === 'ignore') return finished(true);
  const plan = await planRemovals(deps, sync, mapping, { runId: ref.runId, goesOn });
  if (plan.state === 'finding') return finished(false);
  if (plan.state !== 'due') return finished(true);
  const partitionId = await partitions.forRemovals(ref.runId, mapping.mappingId);
  const context = await acquirePartition(deps, { ...ref, partitionId }, signal);
  // An attempt that died may have left batches open; their records cannot be claimed before those are settled.
  await recoverPartition(context);
  const done = context.partition.done || (await carryOutPlan(context, plan, goesOn));
  if (done) await removals.finish(plan);
  return finished(done);
}
