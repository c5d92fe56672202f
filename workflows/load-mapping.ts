/** Loads one mapping: its partitions side by side, each in as many time slices as it takes. */
import type { RunInput } from '../src/domain/run.js';
import type { TimeSliceResult } from '../src/domain/work.js';
import { planMapping, type LoadActivities } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueIfLong } from './continue-run.js';
import { isHistoryLong } from './history-length.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** One pass over a mapping, in the stage that it belongs to. */
export interface MappingPass {
  readonly mapping: string;
  /** Whether this is the pass that leaves out the references that are part of a cycle. */
  readonly firstPass: boolean;
  /** Index of the stage that it belongs to, from which a continued execution begins. */
  readonly stage: number;
}

/**
 * Plans the partitions, or finds them planned, and loads all that are not done. Throws `ContinueAsNew` when the history
 * is long; what is planned and loaded by then is in the ledger.
 */
export async function loadMapping(
  run: CheckedRun,
  input: RunInput,
  { mapping, firstPass, stage }: MappingPass,
  execution: RunExecution,
): Promise<void> {
  const { runId, sync, mode } = run;
  const plan = () => planMapping({ runId, sync, mapping, mode, input, firstPass });
  let planned = await plan();
  while (planned.hold !== null) {
    await execution.holds.untilApproved(run, planned.hold);
    planned = await plan();
  }
  const { partitions, concurrency } = planned;
  const { replay } = input;
  const loadSlice = (activities: LoadActivities, partitionId: string): Promise<TimeSliceResult> =>
    replay === undefined
      ? activities.loadPartition({ runId, sync, mapping, partitionId })
      : activities.replayDeadLetters({ runId, sync, mapping, partitionId, filter: replay });
  const described = partitions.map(({ id, label }, no) => ({
    id,
    summary: `${mapping}${firstPass ? ', first pass' : ''}: ${label ?? `part ${no + 1} of ${partitions.length}`}`,
  }));
  const queue = [...described];
  const loadFromQueue = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { id, summary } = next;
      let done = false;
      while (!done) {
        await execution.controls.untilRunning();
        if (isHistoryLong()) return;
        const result = await execution.dispatch.run(mapping, summary, (activities) => loadSlice(activities, id));
        if (result === null) continue;
        execution.showLoaded(result.progress);
        if (result.hold !== null) await execution.holds.untilApproved(run, result.hold);
        ({ done } = result);
      }
    }
  };
  await allOrNone(Array.from({ length: Math.min(concurrency, partitions.length) }, () => loadFromQueue));
  await continueIfLong(run, input, { stagesDone: stage }, execution);
}
