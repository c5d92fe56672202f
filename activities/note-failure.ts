/** Puts a run on record that failed before it was opened, so that `status` knows of it. */
import { activityInfo } from '@temporalio/activity';
import type { NoteFailureInput } from '../src/domain/work.js';
import type { Dependencies } from './dependencies.js';

/** The files may be what is wrong: nothing is said of their version, and a mode that was left to them is not known. */
const UNKNOWN = { mode: '-', mappingVersion: '' };

export async function noteFailure(
  { ledger }: Dependencies,
  { kind, input, firstExecutionRunId, failure }: NoteFailureInput,
): Promise<void> {
  const { workflowId } = activityInfo().workflowExecution!;
  const mode = kind === 'backfill' ? kind : (input.mode ?? UNKNOWN.mode);
  const about = { sync: input.sync, kind, input, workflowId, firstExecutionRunId };
  // A run that was opened and refused, as by another one's lease, is there already.
  const { id } = await ledger.runs.begin({ ...UNKNOWN, mode, ...about });
  await ledger.runs.end(id, 'failed', failure);
}
