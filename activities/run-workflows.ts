/** What Temporal knows of the workflows of runs: whether they are running, and who has stopped them. */
import { getClient } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { RunWorkflows } from '../src/delivery/run/end-abandoned.js';
import type { Stop } from '../src/domain/run/work.js';
import { isRunning } from '../src/observability/is-running.js';

/** How many of its last events tell whether a workflow was stopped: what it had begun ends after the request. */
const LAST_EVENTS = 200;

export const runWorkflows: RunWorkflows = {
  isRunning: (run) => isRunning(getClient(), run),
  async stopOf(run) {
    try {
      const client = getClient();
      const { runId, raw } = await client.workflow.getHandle(run.workflow_id).describe();
      const first = raw.workflowExecutionInfo?.firstRunId;
      const isOther = first && first !== run.first_execution_run_id;
      return isOther ? null : await stopIn(client, { workflowId: run.workflow_id, runId });
    } catch {
      // Such as a workflow that Temporal has deleted. The run must be ended in any case.
      return null;
    }
  },
};

/** Who has cancelled or terminated this execution, from its history; null if that is not in its last events. */
export async function stopIn(client: Client, execution: { workflowId: string; runId: string }): Promise<Stop | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution,
    maximumPageSize: LAST_EVENTS,
  });
  for (const event of history?.events ?? []) {
    const terminated = event.workflowExecutionTerminatedEventAttributes;
    if (terminated)
      return { action: 'run_terminated', who: terminated.identity || null, reason: terminated.reason || null };
    const cancelled = event.workflowExecutionCancelRequestedEventAttributes;
    if (cancelled) return { action: 'run_cancelled', who: cancelled.identity || null, reason: cancelled.cause || null };
  }
  return null;
}
