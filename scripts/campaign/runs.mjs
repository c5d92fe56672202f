/** Starts runs and waits for their ends, through outages of Temporal. */
import { Client, Connection } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { SYNC } from './shop.mjs';

/** Must agree with the default of PARTNER_SYNC_TASK_QUEUE. */
const TASK_QUEUE = 'partner-sync';
const LOOK_MS = 300;

/** @param {string} address Temporal's own */
export function openRuns(address) {
  const connection = Connection.lazy({ address });
  const client = new Client({ connection });
  /** How the runs have ended. */
  const ended = [];
  let isOver = false;

  /** Repeats until Temporal answers. */
  async function patiently(work) {
    while (true) {
      try {
        return await work();
      } catch (error) {
        if (isOver || !isOutage(error)) throw error;
        await sleep(500);
      }
    }
  }

  return {
    ended,
    /**
     * @param {Promise<void>} [stop] when it resolves, the run is told to stop
     * @returns {Promise<{kind: string, mode: string, outcome: string, seconds: number, message?: string}>} when it has ended
     */
    async run(workflowId, kind, input, stop) {
      const began = performance.now();
      await patiently(() =>
        client.workflow
          .start(kind, { taskQueue: TASK_QUEUE, workflowId, args: [{ sync: SYNC, ...input }] })
          .catch((error) => {
            // The answer to an earlier attempt was lost.
            if (error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
          }),
      );
      const handle = client.workflow.getHandle(workflowId);
      void stop?.then(() => patiently(() => handle.cancel())).catch(() => {}); // It may have ended by itself.
      while (!isOver && (await patiently(() => handle.describe())).status.name === 'RUNNING') await sleep(LOOK_MS);
      const end = await patiently(() => handle.result().then(reported, failed));
      const run = {
        workflowId,
        kind,
        mode: input.mode ?? (kind === 'sync' ? 'incremental' : 'range'),
        ...end,
        seconds: Math.round((performance.now() - began) / 100) / 10,
      };
      ended.push(run);
      return run;
    },
    /** Waits for what an interrupted campaign has left running. */
    async untilNoneIsLeft() {
      const running = async () => {
        for await (const { workflowId } of client.workflow.list({ query: 'ExecutionStatus = "Running"' }))
          return workflowId;
        return undefined;
      };
      while ((await patiently(running)) !== undefined) await sleep(LOOK_MS);
    },
    async close() {
      isOver = true;
      await connection.close();
    },
  };
}

const reported = ({ outcome, total }) => ({ outcome, ...total });

/** A run that leaves records undelivered may fail with its report; that is how it ended. */
function failed(error) {
  if (isOutage(error)) throw error;
  let cause = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  return cause.type === 'run_incomplete'
    ? reported(cause.details[0])
    : { outcome: 'failed', message: `${cause.type ?? cause.name}: ${cause.message}`.slice(0, 500) };
}

const isOutage = (error) => error.name === 'ServiceError' || error.code !== undefined;
