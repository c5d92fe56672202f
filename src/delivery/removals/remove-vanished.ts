/** Marks records whose rows are gone as the mapping says, once a run has read every row, or those that a change feed has named. */
import { removesRecords } from '../../domain/sync/sync.js';
import type { Dependencies } from '../dependencies.js';
import { runTimeSlice } from '../load/run-time-slice.js';
import { timeSlice, timeSliceResult } from '../time-slice.js';
import { carryOutPlan } from './carry-out-plan.js';
import { planRemovals } from './plan-removals.js';
import type { TimeSliceResult, RemoveVanishedInput } from '../../domain/run/work.js';

/** The workflow starts the activity again, for another time slice, until it returns `done`. */
export async function removeVanished(
  deps: Dependencies,
  { among, awaitsApproval = false, ...ref }: RemoveVanishedInput,
  signal: AbortSignal,
): Promise<TimeSliceResult> {
  const { removals, partitions, feeds } = deps.ledger;
  const sync = await deps.openSync(ref.sync, ref.runId);
  const mapping = await sync.mapping(ref.mapping);
  if (!removesRecords(mapping.spec)) return timeSliceResult(deps, ref, true);

  const fed = among === 'all' ? null : await feeds.mapping(mapping.mappingId);
  const isSearched = among === 'all' || fed?.missedDeletes === true;
  if (!isSearched && !(await removals.has(ref.runId, mapping.mappingId))) {
    await removals.replaceSettled(mapping.mappingId);
    return timeSliceResult(deps, ref, true);
  }
  const run = {
    runId: ref.runId,
    isSearched,
    again: fed?.missedDeletes === true,
    shouldContinue: timeSlice(signal),
  };
  const plan = await planRemovals(deps, sync, mapping, run);
  // Such a run is on hold then, and carries the plan out if somebody approves.
  if (plan.state === 'awaiting_approval' && (awaitsApproval || sync.spec.guard !== null))
    return timeSliceResult(deps, ref, true, { mapping: ref.mapping, cause: 'gone', ...plan.exceeded! });
  if (plan.state !== 'due') return timeSliceResult(deps, ref, plan.state !== 'finding');

  const partitionId = await partitions.forRemovals(ref.runId, mapping.mappingId);
  const result = await runTimeSlice(deps, { ...ref, partitionId }, signal, (context, shouldContinue) =>
    carryOutPlan(context, plan, shouldContinue),
  );
  if (result.done) await removals.finish(plan);
  return result;
}
