/** The active run, as commands reach it: by the Updates and the query of its workflow. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  ApplicationFailure,
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { CommonParts } from '../../composition/parts.js';
import { COMMAND_UPDATE } from '../../domain/run/audit.js';
import { quantity } from '../../domain/values/quantity.js';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../../domain/errors.js';
import type { HoldUntil } from '../../domain/run/run.js';
import { milliseconds, seconds } from '../../domain/timeouts.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { assertKnown } from '../known-sync.js';

/**
 * The workflow of a run. Throws `worker_missing` if no worker is there to respond, or all fail at it, and `run_stopped` if
 * the workflow does not run any more.
 */
export interface RunWorkflow {
  /** Sends an Update and returns the response; throws `input_invalid` with the validator's sentence if it is rejected. */
  readonly update: (name: string, input: object) => Promise<string>;
  /** What the run is on hold for. */
  readonly holds: () => Promise<readonly HoldUntil[]>;
}

/**
 * The run that has not ended. Throws `input_invalid` if there is none, if there are several and `workflow` names none of them, or if
 * it is not the run that was `seen`.
 */
export async function workingRun(
  parts: CommonParts,
  sync: string,
  workflow: string | undefined,
  seen?: string,
): Promise<RunRow> {
  const notEnded = await (await parts.ledger()).runs.notEnded(sync);
  const runs = notEnded.filter(
    (run) => (workflow === undefined || run.workflow_id === workflow) && (seen === undefined || run.id === seen),
  );
  if (runs.length === 1) return runs[0]!;
  if (seen !== undefined) throw new PartnerSyncError('input_invalid', `run ${seen} of ${sync} is not active any more`);
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
  run: RunRow,
  work: (workflow: RunWorkflow) => Promise<T>,
): Promise<T> {
  const temporal = await connectTemporal(parts.env);
  const { client } = temporal;
  const handle = client.workflow.getHandle(run.workflow_id);
  const ask = async <A>(request: () => Promise<A>): Promise<A> => {
    const deadline = Date.now() + milliseconds('runAnswer');
    let workersFail = false;
    for (;;)
      try {
        return await client.withDeadline(deadline, request);
      } catch (error) {
        workersFail ||= isNotReady(error);
        const askAgainAt = Date.now() + milliseconds('runNotReady');
        if (!isNotReady(error) || askAgainAt > deadline)
          throw fromRun(run, error, { isLate: Date.now() >= deadline, workersFail });
        await setTimeout(askAgainAt - Date.now());
      }
  };
  try {
    return await work({
      update: (name, input) =>
        ask(() =>
          handle.executeUpdate<string, [object]>(name, { args: [input], updateId: COMMAND_UPDATE + randomUUID() }),
        ),
      holds: async () => (await ask(() => handle.query<{ holds: HoldUntil[] }, []>('progress'))).holds,
    });
  } finally {
    await temporal.close();
  }
}

/**
 * Why a run has not done what it was asked for. Anything unforeseen is returned unchanged.
 *
 * @param seen.isLate whether the time for the response is over: then Temporal words the lack of a worker in several ways
 * @param seen.workersFail whether this request or one before it was told so: the time may be over while the last one waits
 */
function fromRun(
  { id, workflow_id: workflow }: RunRow,
  error: unknown,
  { isLate, workersFail }: { isLate: boolean; workersFail: boolean },
): unknown {
  if (error instanceof WorkflowUpdateFailedError) return refusal(error);
  if (error instanceof WorkflowNotFoundError)
    return new PartnerSyncError('run_stopped', `the workflow ${workflow} of run ${id} does not run any more`);
  if (isNotReady(error)) return failingWorkers(workflow, id, '');
  const isUnanswered = isGrpcDeadlineError(causeOf(error)) || (isLate && isGrpcServiceError(causeOf(error)));
  if (!isUnanswered && !(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) return error;
  const mayFollow = 'it may still do what was asked for, once a worker';
  if (workersFail) return failingWorkers(workflow, id, `; ${mayFollow} can`);
  return new PartnerSyncError(
    'worker_missing',
    `run ${id} did not answer within ${seconds('runAnswer')} s; ${mayFollow} is there`,
  );
}

const failingWorkers = (workflow: string, id: string, outlook: string): PartnerSyncError =>
  new PartnerSyncError(
    'worker_missing',
    `the workers fail to continue the workflow ${workflow} of run ${id}: their logs and its history in the Temporal Web UI show why${outlook}`,
  );

/** By which Temporal tells that a workflow's latest tasks have failed. */
const GRPC_FAILED_PRECONDITION = 9;

/** Whether Temporal passes nothing on to the workflow because its latest tasks have failed; the next may succeed. */
const isNotReady = (error: unknown): boolean => {
  const cause = causeOf(error);
  return isGrpcServiceError(cause) && Number(cause.code) === GRPC_FAILED_PRECONDITION;
};

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** The validator's sentence, or the failure of the activity that should have carried the Update out. */
function refusal({ cause, message }: WorkflowUpdateFailedError): PartnerSyncError {
  let innermost: Error | undefined = cause;
  while (innermost?.cause instanceof Error) innermost = innermost.cause;
  const code = innermost instanceof ApplicationFailure ? innermost.type : undefined;
  const known = code !== null && code !== undefined && Object.hasOwn(ERROR_CATALOGUE, code);
  return new PartnerSyncError(known ? (code as ErrorCode) : 'input_invalid', innermost?.message ?? message);
}
