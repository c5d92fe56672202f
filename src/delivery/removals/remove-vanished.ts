/** Marks records whose rows are gone as the mapping says, once a mirror run has read every row. */
import { milliseconds } from '../../domain/timeouts.js';
import type { Dependencies } from '../dependencies.js';
import { acquirePartition } from '../partition-context.js';
import { recoverPartition } from '../upload/recover-partition.js';
import type { GuardLimits, Hold } from '../../domain/guard.js';
import type { OpenPlan } from '../../ledger/removals.js';
import { carryOutPlan } from './carry-out-plan.js';
import { planRemovals } from './plan-removals.js';
import type { LoadResult, MappingRef } from '../../domain/work.js';

/** In a guarded run, a plan that needs approval holds the run, which carries it out if somebody approves. */
async function holdOf(
  { ledger }: Dependencies,
  { gone }: GuardLimits,
  { runId, mapping }: MappingRef,
  plan: OpenPlan,
): Promise<Hold> {
  const { records, accepted } = (await ledger.removals.ofRun(runId)).find((p) => p.plan === plan.id)!;
  return { mapping, cause: 'gone', records, of: accepted, limit: gone };
}

/** The workflow starts the activity again, as another load, until it returns `done`. */
export async function removeVanished(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<LoadResult> {
  const { removals, partitions, counts } = deps.ledger;
  const deadline = performance.now() + milliseconds('loadTime');
  const goesOn = (): boolean => performance.now() < deadline && !signal.aborted;
  const sync = await deps.openSync(ref.sync, ref.runId);
  const mapping = await sync.mapping(ref.mapping);
  const finished = async (done: boolean, hold: Hold | null = null): Promise<LoadResult> => ({
    done,
    hold,
    progress: await counts.progress(ref.runId),
  });

  if (mapping.spec.deletes === null || mapping.spec.deletes.action === 'ignore') return finished(true);
  const plan = await planRemovals(deps, sync, mapping, { runId: ref.runId, goesOn });
  if (plan.state === 'finding') return finished(false);
  if (plan.state === 'awaiting_approval' && sync.spec.guard !== null)
    return finished(true, await holdOf(deps, sync.spec.guard, ref, plan));
  if (plan.state !== 'due') return finished(true);
  const partitionId = await partitions.forRemovals(ref.runId, mapping.mappingId);
  const context = await acquirePartition(deps, { ...ref, partitionId }, signal);
  // An attempt that died may have left batches open; their records cannot be claimed before those are settled.
  await recoverPartition(context);
  const done = context.partition.done || (await carryOutPlan(context, plan, goesOn));
  if (done) await removals.finish(plan);
  return finished(done);
}
