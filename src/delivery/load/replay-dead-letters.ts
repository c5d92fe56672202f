/** Carries a replay forward for one load: the rows of dead letters are read by their keys and delivered anew. */
import type { LoadResult, ReplayRef } from '../../domain/work.js';
import { workOf } from '../../ledger/runs/partitions.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import { deliverAndCheckpoint } from '../chunk/deliver-rows.js';
import { readDeadLetters } from '../chunk/read-dead-letters.js';
import type { Dependencies } from '../dependencies.js';
import { runLoad } from './run-load.js';

/** Delivers them oldest first. The workflow starts the activity again, as another load, until it returns `done`. */
export const replayDeadLetters = (deps: Dependencies, ref: ReplayRef, signal: AbortSignal): Promise<LoadResult> =>
  runLoad(deps, ref, signal, async (context, goesOn) => {
    const { mapping, partition } = context;
    const { through, ...work } = workOf(partition, 'dead_letters');
    let { after } = work;
    while (goesOn()) {
      const bounds = { after, through, limit: LOOK_UP_ROWS };
      const deadLetters = await deps.ledger.deadLetters.keys(mapping.mappingId, ref.filter, bounds);
      const last = deadLetters.at(-1);
      if (last === undefined) return true;
      const chunk = await readDeadLetters(context, deadLetters);
      await deliverAndCheckpoint(context, chunk, { kind: 'dead_letter', id: last.id });
      after = last.id;
    }
    return false;
  });
