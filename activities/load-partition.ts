/** Carries a partition forward for one load: read, map, validate, claim, upload, settle, checkpoint. */
import { runLoad } from '../src/delivery/load/run-load.js';
import { deliverPartition } from '../src/delivery/load/deliver-partition.js';
import type { Dependencies } from '../src/delivery/dependencies.js';
import type { LoadResult, PartitionRef } from '../src/domain/work.js';

/** The workflow starts the activity again, as another load, until it returns `done`. `rowsDone` is called with the rows of each chunk. */
export const loadPartition = (
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
  rowsDone?: (rows: number) => void,
): Promise<LoadResult> => runLoad(deps, ref, signal, (context, goesOn) => deliverPartition(context, goesOn, rowsDone));
