/** Carries a replay forward for one load: the rows of dead letters are read by their keys and delivered anew. */
import { runLoad } from '../src/delivery/load/run-load.js';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { deliverDeadLetters } from '../src/delivery/load/reread-dead-letters.js';
import type { LoadResult, ReplayRef } from '../src/domain/work.js';

/** The workflow starts the activity again, as another load, until it returns `done`. */
export const replayDeadLetters = (deps: Dependencies, ref: ReplayRef, signal: AbortSignal): Promise<LoadResult> =>
  runLoad(deps, ref, signal, (context, goesOn) => deliverDeadLetters(context, ref.filter, goesOn));
