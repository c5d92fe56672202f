/** A run that is working, as commands reach it: by the Updates and the query of its workflow. */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { CommonParts } from '../../compose.js';
import { counted } from '../../domain/counted.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { HoldUntil } from '../../domain/run.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { assertKnown } from '../known-sync.js';

/** The workflow of a run. A worker must be there to respond. */
export interface RunWorkflow {
  /** Sends an Update and returns the response; throws `input_invalid` with the validator's sentence if it is rejected. */
  readonly update: (name: string, input: object) => Promise<string>;
  /** What the run is on hold for. */
  readonly holds: () => Promise<readonly HoldUntil[]>;
}

/** The run that has not ended; throws `input_invalid` if there is none, or several and `workflow` names none of them. */
export async function workingRun(parts: CommonParts, sync: string, workflow: string | undefined): Promise<RunRow> {
  const unended = await (await parts.ledger()).runs.unended(sync);
  const runs = unended.filter((run) => workflow === undefined || run.workflow_id === workflow);
  if (runs.length === 1) return runs[0]!;
  if (unended.length === 0) await assertKnown(parts, sync);
  const working = unended.map((run) => run.workflow_id).join(', ');
  throw new PartnerSyncError(
    'input_invalid',
    unended.length === 0
      ? `no run of ${sync} is working`
      : `${counted(unended.length, `run of ${sync} is`, `runs of ${sync} are`)} working; name one with --workflow: ${working}`,
  );
}

/** Connects to Temporal for as long as `work` takes. */
export async function withRun<T>(
  parts: CommonParts,
  { workflow_id: workflowId }: RunRow,
  work: (workflow: RunWorkflow) => Promise<T>,
): Promise<T> {
  const temporal = await connectTemporal(parts.env);
  const handle = temporal.client.workflow.getHandle(workflowId);
  try {
    return await work({
      update: (name, input) => handle.executeUpdate<string, [object]>(name, { args: [input] }),
      holds: async () => (await handle.query<{ holds: HoldUntil[] }, []>('progress')).holds,
    });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError)
      throw new PartnerSyncError('input_invalid', error.cause?.message ?? error.message);
    throw error;
  } finally {
    await temporal.close();
  }
}
