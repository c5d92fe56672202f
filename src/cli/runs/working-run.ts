/** The active run, as commands reach it: by the Updates and the query of its workflow. */
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { CommonParts } from '../../compose.js';
import { COMMAND_UPDATE } from '../../domain/audit.js';
import { quantity } from '../../domain/quantity.js';
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
  const notEnded = await (await parts.ledger()).runs.notEnded(sync);
  const runs = notEnded.filter((run) => workflow === undefined || run.workflow_id === workflow);
  if (runs.length === 1) return runs[0]!;
  if (notEnded.length === 0) await assertKnown(parts, sync);
  const working = notEnded.map((run) => run.workflow_id).join(', ');
  throw new PartnerSyncError(
    'input_invalid',
    notEnded.length === 0
      ? `no run of ${sync} is active`
      : `${quantity(notEnded.length, `run of ${sync} is`, `runs of ${sync} are`)} active; name one with --workflow: ${working}`,
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
      update: (name, input) =>
        handle.executeUpdate<string, [object]>(name, { args: [input], updateId: COMMAND_UPDATE + randomUUID() }),
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
