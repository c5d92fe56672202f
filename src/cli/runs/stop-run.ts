/** Cancels the workflow of a run, in the name of whoever asks for it, and waits for its end. */
import { randomUUID } from 'node:crypto';
import { isGrpcDeadlineError, isGrpcServiceError, type Client } from '@temporalio/client';
import { COMMAND_UPDATE } from '../../domain/run/audit.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunReport } from '../../domain/run/run.js';
import { CANCELLED, isCancelled, type RunFailure } from '../../domain/run/work.js';
import { milliseconds, seconds } from '../../domain/timeouts.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { reportOf } from '../../runs/workflow-failure.js';
import { startedBy } from '../actor.js';

/** How a run has ended: with its report, as one in mode `live` does, or as failed, which a cancelled one is. */
export type StoppedRun = { readonly report: RunReport } | { readonly failure: RunFailure };

/** gRPC's NOT_FOUND. */
const NOT_FOUND = 5;

/**
 * The ledger's audit gets who has cancelled it and why from Temporal. Throws `run_stopped` if the workflow does not run any
 * more, and `worker_missing` if it does not end in time.
 */
export async function stopRun(client: Client, run: RunRow, reason: string | undefined): Promise<StoppedRun> {
  await requestCancel(client, run, reason);
  const handle = client.workflow.getHandle(run.workflow_id);
  try {
    const deadline = Date.now() + milliseconds('runStops');
    return { report: await client.withDeadline(deadline, () => reportOf(handle)) };
  } catch (error) {
    if (error instanceof PartnerSyncError) {
      const failure = { code: error.code, message: error.message };
      return { failure: isCancelled(failure) ? CANCELLED : failure };
    }
    const cause = error instanceof Error ? error.cause : undefined;
    if (!isGrpcDeadlineError(error) && !isGrpcDeadlineError(cause)) throw error;
    throw new PartnerSyncError(
      'worker_missing',
      `run ${run.id} was told to stop, but has not ended within ${seconds('runStops')} s; it ends once a worker is there`,
    );
  }
}

async function requestCancel(
  client: Client,
  { id, workflow_id: workflowId, first_execution_run_id: firstExecutionRunId }: RunRow,
  reason: string | undefined,
): Promise<void> {
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      firstExecutionRunId,
      identity: startedBy(),
      requestId: COMMAND_UPDATE + randomUUID(),
      ...(reason !== undefined && { reason }),
    });
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== NOT_FOUND) throw error;
    throw new PartnerSyncError('run_stopped', `the workflow ${workflowId} of run ${id} does not run any more`);
  }
}
