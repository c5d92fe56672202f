/** The step after a run: what is old goes from the ledger. It can neither delay nor fail the run. */
import { CancellationScope, log } from '@temporalio/workflow';
import type { OpenedRun } from '../src/domain/run/work.js';
import { pruneLedger } from './activities.js';
import { codedFailure } from './run-failure.js';

/** Never throws. The run has ended and given its lease back by then, so no other run waits for this. */
export async function prune({ runId, sync }: OpenedRun): Promise<void> {
  try {
    await CancellationScope.nonCancellable(() => pruneLedger({ sync }));
  } catch (error) {
    // The next run does it; until then the ledger is merely larger.
    log.warn('the ledger could not be pruned', { sync, runId, ...codedFailure(error) });
  }
}
