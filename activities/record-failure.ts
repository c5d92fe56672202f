/** Records a run that failed before it was opened, so that `status` can show it. */
import { activityInfo } from '@temporalio/activity';
import type { RecordFailureInput } from '../src/domain/run/work.js';
import { cancellationOf } from './fail-run.js';
import type { Dependencies } from '../src/delivery/dependencies.js';

/** The files may be the problem, so their version is not recorded, and a mode that they would have set is unknown. */
const UNKNOWN = { mode: '-', mappingVersion: '', files: null };

/** Begins and ends the run in one go, as `failed`. */
export async function recordFailure(
  { ledger }: Dependencies,
  { kind, input, firstExecutionRunId, start, failure }: RecordFailureInput,
): Promise<void> {
  const { workflowId } = activityInfo().workflowExecution!;
  const mode = kind === 'backfill' ? kind : (input.mode ?? UNKNOWN.mode);
  const { sync, runsBefore = 0 } = input;
  const about = { sync, kind, input, workflowId, firstExecutionRunId, runsBefore, start };
  // A run that was opened and then refused, for example by another run's lease, is there already.
  const { id } = await ledger.runs.begin({ ...UNKNOWN, mode, ...about });
  await ledger.runs.end(id, 'failed', failure, await cancellationOf(failure));
}
