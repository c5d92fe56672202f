/** Whether the workflow of a run is still running, as Temporal knows it: the ledger is not told when one is terminated. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** What tells the workflow of a run. */
export interface RunWorkflowRef {
  readonly workflow_id: string;
  readonly first_execution_run_id: string;
}

/** A continued run goes on under the same workflow id, in another execution of the same chain. */
export async function isRunning(client: Client, run: RunWorkflowRef): Promise<boolean> {
  try {
    const latest = await client.workflow.getHandle(run.workflow_id).describe();
    if (latest.status.name !== 'RUNNING') return false;
    const first = latest.raw.workflowExecutionInfo?.firstRunId;
    // Older servers leave it out; then whatever runs under this id counts as the run.
    return !first || first === run.first_execution_run_id;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
