/** Opens a run, and asks Temporal whether runs that have not ended are still running. */
import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { openRun as open } from '../src/delivery/run/open-run.js';
import type { OpenedRun, OpenRunInput } from '../src/domain/work.js';
import type { RunRow } from '../src/ledger/runs/runs.js';
import { usableAttributes } from '../src/observability/search-attributes.js';

export async function openRun(deps: Dependencies, input: OpenRunInput): Promise<OpenedRun> {
  const { workflowId } = activityInfo().workflowExecution!;
  const [opened, searchAttributes] = await Promise.all([
    open(deps, input, { workflowId, isRunning }),
    usableAttributes(getClient()),
  ]);
  return { ...opened, searchAttributes };
}

/** A continued run goes on under the same workflow id, in another execution of the same chain. */
async function isRunning(run: RunRow): Promise<boolean> {
  try {
    const latest = await getClient().workflow.getHandle(run.workflow_id).describe();
    if (latest.status.name !== 'RUNNING') return false;
    const first = latest.raw.workflowExecutionInfo?.firstRunId;
    // Older servers leave it out; then whatever runs under this id counts as the run.
    return !first || first === run.first_execution_run_id;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
