/** Starts runs from a program, and follows them. */
import type { connectTemporal as Connect } from '../worker/temporal-connection.js';
import { readVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { milliseconds } from '../domain/timeouts.js';
import type { MappingProgress } from '../domain/run/progress.js';
import { checkNewRunInput } from '../domain/run/check-range.js';
import type { BackfillInput, RunKind, RunReport, SyncInput } from '../domain/run/run.js';

/** Inputs of the workflows by their types; docs/commands.md describes them. */
export interface RunInputs {
  readonly sync: Omit<SyncInput, 'continues'>;
  readonly backfill: Omit<BackfillInput, 'continues'>;
}

/** Where Temporal and the ledger are. */
export interface RunOptions {
  /** The environment variables of docs/configuration.md; by default `process.env`. */
  readonly env?: Env;
}

/** Settings of {@link startRun}. */
export interface StartRunOptions extends RunOptions {
  /** The id that the workflow gets; by default one that is made of kind, sync and time. Temporal refuses one that is running. */
  readonly workflowId?: string;
}

/** A run, and the connection to Temporal through which it is followed. */
export interface RunHandle {
  /** The id of the workflow, with which {@link findRun} finds the run again. */
  readonly workflowId: string;
  /**
   * The report, once the run has ended. A run that is `incomplete` or has dead letters has a report, whatever `failOn` says.
   *
   * @throws PartnerSyncError the failure of a run that failed: with the code of its cause, or `run_stopped`.
   */
  result(): Promise<RunReport>;
  /**
   * The counts of each mapping so far: to the chunk if PARTNER_SYNC_STATE_URL is set, otherwise to the last time slice. Empty
   * until a worker has opened the run.
   */
  progress(): Promise<readonly MappingProgress[]>;
  /** Asks the run to stop; {@link RunHandle.result} then rejects with `run_stopped`. Nothing that was sent is lost. */
  cancel(): Promise<void>;
  /** Ends the connections; the run goes on. */
  close(): Promise<void>;
}

/**
 * Starts a run on the task queue that the workers share. It goes on without this process.
 *
 * @throws PartnerSyncError `input_invalid` for an input that the workflow would refuse; `config_invalid` for a variable that
 *   cannot be used, or without a Temporal server.
 */
export async function startRun<K extends RunKind>(
  kind: K,
  input: RunInputs[K],
  { env = process.env, workflowId }: StartRunOptions = {},
): Promise<RunHandle> {
  const checked = checkNewRunInput(kind, input);
  const { newWorkflowId } = await import('../runs/workflow-id.js');
  const id = workflowId ?? newWorkflowId(kind, checked.sync);
  return follow(env, async ({ client, taskQueue }) => {
    await client.workflow.start(kind, { taskQueue, workflowId: id, args: [checked] }).catch((cause: unknown) => {
      if (!(cause instanceof Error) || cause.name !== 'WorkflowExecutionAlreadyStartedError') throw cause;
      throw new PartnerSyncError('input_invalid', `a workflow with the id ${id} is running already`, {}, { cause });
    });
    return id;
  });
}

/** The run of a workflow that was started before, by anyone. Whether it exists shows when it is asked. */
export const findRun = (workflowId: string, { env = process.env }: RunOptions = {}): Promise<RunHandle> =>
  follow(env, () => Promise.resolve(workflowId));

type Temporal = Awaited<ReturnType<typeof Connect>>;

async function follow(env: Env, begin: (temporal: Temporal) => Promise<string>): Promise<RunHandle> {
  const [{ connectTemporal }, { composeView }, { reportOf }, { progressOf, queryProgress }] = await Promise.all([
    import('../worker/temporal-connection.js'),
    import('../composition/compose.js'),
    import('../runs/workflow-failure.js'),
    import('../runs/run-progress.js'),
  ]);
  const temporal = await connectTemporal(env);
  try {
    const workflowId = await begin(temporal);
    const handle = temporal.client.workflow.getHandle(workflowId);
    const parts = composeView(env);
    return {
      workflowId,
      result: () => reportOf(handle),
      async progress() {
        // It rejects until a worker has taken up the workflow.
        const deadline = Date.now() + milliseconds('runLook');
        const runId = await temporal.client
          .withDeadline(deadline, () => queryProgress(handle))
          .then(
            (queried) => queried.runId,
            () => null,
          );
        if (runId === null) return [];
        const isKnown = (await readVariable(env, 'PARTNER_SYNC_STATE_URL')) !== undefined;
        return progressOf(handle, runId, isKnown ? () => parts.ledger() : null);
      },
      async cancel() {
        await handle.cancel();
      },
      async close() {
        await parts.close();
        await temporal.close();
      },
    };
  } catch (error) {
    await temporal.close();
    throw error;
  }
}
