/** Marks records whose rows are gone as the mapping says, once a mirror run has read every row. */
import type { Dependencies } from '../dependencies.js';
import { runTimeSlice } from '../load/run-time-slice.js';
import { timeSlice, timeSliceResult } from '../time-slice.js';
import type { GuardLimits, Hold } from '../../domain/guard.js';
import type { OpenPlan } from '../../ledger/removals.js';
import { carryOutPlan } from './carry-out-plan.js';
import { planRemovals } from './plan-removals.js';
import type { TimeSliceResult, MappingRef } from '../../domain/work.js';

/** In a guarded run, a plan that needs approval holds the run, which carries it out if somebody approves. */
async function holdForRemovals(
  { ledger }: Dependencies,
  { gone }: GuardLimits,
  { runId, mapping }: MappingRef,
  plan: OpenPlan,
): Promise<Hold> {
  const { records, accepted } = (await ledger.removals.ofRun(runId)).find((p) => p.plan === plan.id)!;
  return { mapping, cause: 'gone', records, of: accepted, limit: gone };
}

/** The workflow starts the activity again, for another time slice, until it returns `done`. */
export async function removeVanished(
  deps: Dependencies,
  ref: MappingRef,
  signal: AbortSignal,
): Promise<TimeSliceResult> {
  const { removals, partitions } = deps.ledger;
  const sync = await deps.openSync(ref.sync, ref.runId);
  const mapping = await sync.mapping(ref.mapping);
  if (mapping.spec.deletes === null || mapping.spec.deletes.action === 'ignore')
    return timeSliceResult(deps, ref, true);

  const plan = await planRemovals(deps, sync, mapping, { runId: ref.runId, shouldContinue: timeSlice(signal) });
  if (plan.state === 'awaiting_approval' && sync.spec.guard !== null)
    return timeSliceResult(deps, ref, true, await holdForRemovals(deps, sync.spec.guard, ref, plan));
  if (plan.state !== 'due') return timeSliceResult(deps, ref, plan.state !== 'finding');

  const partitionId = await partitions.forRemovals(ref.runId, mapping.mappingId);
  const result = await runTimeSlice(deps, { ...ref, partitionId }, signal, (context, shouldContinue) =>
    carryOutPlan(context, plan, shouldContinue),
  );
  if (result.done) await removals.finish(plan);
  return result;
}
