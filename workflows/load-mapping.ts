/** Loads one mapping: its partitions side by side, each by as many loads in a row as it takes. */
import type { RunInput } from '../src/domain/run.js';
import type { LoadResult } from '../src/domain/work.js';
import { planMapping, type Loads } from './activities.js';
import { allOrNone } from './all-or-none.js';
import { continueIfLong, isHistoryLong } from './continue-run.js';
import type { RunDetails } from './run-details.js';
import type { CheckedRun } from './without-drifted.js';

/** One pass over a mapping, in the stage that it belongs to. */
export interface MappingLoad {
  readonly mapping: string;
  /** Whether this is the pass that leaves out the references that are part of a circle. */
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
  { mapping, firstPass, stage }: MappingLoad,
  details: RunDetails,
): Promise<void> {
  const { runId, sync, mode } = run;
  const plan = () => planMapping({ runId, sync, mapping, mode, input, firstPass });
  let planned = await plan();
  while (planned.hold !== null) {
    await details.holds.untilApproved(run, planned.hold);
    planned = await plan();
  }
  const { partitions, concurrency } = planned;
  const { replay } = input;
  const loadWith = (loads: Loads, partitionId: string): Promise<LoadResult> =>
    replay === undefined
      ? loads.loadPartition({ runId, sync, mapping, partitionId })
      : loads.replayDeadLetters({ runId, sync, mapping, partitionId, filter: replay });
  const named = partitions.map(({ id, label }, no) => ({
    id,
    summary: `${mapping}${firstPass ? ', first pass' : ''}: ${label ?? `part ${no + 1} of ${partitions.length}`}`,
  }));
  const queue = [...named];
  const loadFromQueue = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { id, summary } = next;
      let done = false;
      while (!done) {
        await details.controls.untilRunning();
        if (isHistoryLong()) return;
        const result = await details.dispatch.load(mapping, summary, (loads) => loadWith(loads, id));
        if (result === null) continue;
        details.showLoaded(result.progress);
        if (result.hold !== null) await details.holds.untilApproved(run, result.hold);
        ({ done } = result);
      }
    }
  };
  await allOrNone(Array.from({ length: Math.min(concurrency, partitions.length) }, () => loadFromQueue));
  await continueIfLong(run, input, { stagesDone: stage }, details);
}
