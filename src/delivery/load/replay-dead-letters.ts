/** Replays dead letters for one time slice: reads their rows by key and delivers them anew. */
import type { TimeSliceResult, ReplayRef } from '../../domain/run/work.js';
import { workOf } from '../../ledger/runs/partitions.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import { deliverRows } from '../chunk/deliver-rows.js';
import { readDeadLetters } from '../chunk/read-dead-letters.js';
import type { Dependencies } from '../dependencies.js';
import { runTimeSlice } from './run-time-slice.js';

/** Delivers them oldest first. The workflow starts the activity again, for another time slice, until it returns `done`. */
export const replayDeadLetters = (deps: Dependencies, ref: ReplayRef, signal: AbortSignal): Promise<TimeSliceResult> =>
  runTimeSlice(deps, ref, signal, async (context, shouldContinue) => {
    const { mapping, partition } = context;
    const { through, ...work } = workOf(partition, 'dead_letters');
    let { after } = work;
    while (shouldContinue()) {
      const bounds = { after, through, limit: LOOK_UP_ROWS };
      const deadLetters = await deps.ledger.deadLetters.keys(mapping.mappingId, ref.filter, bounds);
      const last = deadLetters.at(-1);
      if (last === undefined) return true;
      const chunk = await readDeadLetters(context, deadLetters);
      await deliverRows(context, chunk, { kind: 'dead_letter', id: last.id });
      after = last.id;
    }
    return false;
  });
