/** Loads one mapping: its partitions side by side, each in as many time slices as it takes. */
import type { RunInput } from '../src/domain/run/run.js';
import type { PlannedPartitions, TimeSliceResult } from '../src/domain/run/work.js';
import { planMapping, type LoadActivities } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { completionOf, isHistoryLong, type Completion } from './history-length.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

/** One pass over a mapping. */
export interface MappingPass {
  readonly mapping: string;
  /** Whether this is the pass that leaves out the references that are part of a cycle. */
  readonly firstPass: boolean;
}

/**
 * Plans the partitions, or finds them planned, and loads all that are not done. Leaves the rest `unfinished` when the
 * history is long; what is planned and loaded by then is in the ledger.
 */
export async function loadMapping(
  run: CheckedRun,
  input: RunInput,
  { mapping, firstPass }: MappingPass,
  execution: RunExecution,
): Promise<Completion> {
  const { runId, sync, mode } = run;
  const plan = async (): Promise<PlannedPartitions> => {
    await execution.controls.untilRunning();
    return planMapping({ runId, sync, mapping, mode, input, firstPass });
  };
  let planned = await plan();
  while (planned.hold !== null) {
    await execution.holds.untilApproved(run, planned.hold);
    planned = await plan();
  }
  const { replay } = input;
  const loadSlice = (activities: LoadActivities, partitionId: string): Promise<TimeSliceResult> =>
    replay === undefined
      ? activities.loadPartition({ runId, sync, mapping, partitionId })
      : activities.replayDeadLetters({ runId, sync, mapping, partitionId, filter: replay });
  const loadToItsEnd = async (id: string, summary: string): Promise<Completion> => {
    while (true) {
      await execution.controls.untilRunning();
      if (isHistoryLong()) return 'unfinished';
      const result = await execution.dispatch.run(mapping, summary, (activities) => loadSlice(activities, id));
      if (result === null) continue;
      execution.showLoaded(result.progress);
      if (result.hold !== null) await execution.holds.untilApproved(run, result.hold);
      if (result.done) return 'finished';
    }
  };
  const load = async (partitions: PlannedPartitions['partitions'], concurrency: number): Promise<Completion> => {
    const queue = partitions.map(({ id, label }, no) => ({
      id,
      summary: `${mapping}${firstPass ? ', first pass' : ''}: ${label ?? `part ${no + 1} of ${partitions.length}`}`,
    }));
    const loadFromQueue = async (): Promise<Completion> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        if ((await loadToItsEnd(next.id, next.summary)) === 'unfinished') return 'unfinished';
      return 'finished';
    };
    const loaders = Array.from({ length: Math.min(concurrency, partitions.length) }, () => loadFromQueue);
    return completionOf(await allOrNone(loaders));
  };
  const loaded = await load(planned.partitions, planned.concurrency);
  return loaded === 'finished' ? load(planned.next ?? [], 1) : loaded;
}
