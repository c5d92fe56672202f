/** Marks records whose rows are gone as the mapping says, once a mirror run has read every row. */
import type { Dependencies } from '../dependencies.js';
import { runTimeSlice } from '../load/run-time-slice.js';
import { timeSlice, timeSliceResult } from '../time-slice.js';
import { carryOutPlan } from './carry-out-plan.js';
import { planRemovals } from './plan-removals.js';
import type { TimeSliceResult, MappingRef } from '../../domain/run/work.js';

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
  // A guarded run is on hold then, and carries the plan out if somebody approves.
  if (plan.state === 'awaiting_approval' && sync.spec.guard !== null)
    return timeSliceResult(deps, ref, true, { mapping: ref.mapping, cause: 'gone', ...plan.exceeded! });
  if (plan.state !== 'due') return timeSliceResult(deps, ref, plan.state !== 'finding');

  const partitionId = await partitions.forRemovals(ref.runId, mapping.mappingId);
  const result = await runTimeSlice(deps, { ...ref, partitionId }, signal, (context, shouldContinue) =>
    carryOutPlan(context, plan, shouldContinue),
  );
  if (result.done) await removals.finish(plan);
  return result;
}
