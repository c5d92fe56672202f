/** Polls the pending records of a run's mappings once and sends again those that are due, parents first. */
import type { PollPendingInput, PollPendingResult } from '../../domain/run/work.js';
import type { Dependencies } from '../dependencies.js';
import { timeSlice } from '../time-slice.js';
import { pollMapping } from './poll-mapping.js';

/**
 * Sends due records for one time slice, so that a run can be paused in between. What still waits is returned for each mapping
 * that has such records: how many, for how long, and whether some are due soon. The workflow decides from it whether to poll
 * again.
 */
export async function pollPending(
  deps: Dependencies,
  { mappings, ...run }: PollPendingInput,
  signal: AbortSignal,
): Promise<PollPendingResult> {
  const shouldContinue = timeSlice(signal);
  let interrupted = false;
  for (const mapping of mappings) {
    signal.throwIfAborted();
    const isDone = await pollMapping(deps, { ...run, mapping }, signal, shouldContinue);
    interrupted ||= !isDone;
  }
  const sync = await deps.openSync(run.sync, run.runId);
  const backlogs = [];
  // Only now, since a later mapping may have delivered what an earlier one waits for.
  for (const mapping of mappings) {
    const { mappingId } = await sync.mapping(mapping);
    const backlog = await deps.ledger.waiting.backlog(mappingId, run.runId);
    if (backlog.waiting > 0) backlogs.push({ mapping, ...backlog });
  }
  return { interrupted, backlogs };
}
