/** Checks whether a worker is ready. A worker listens on no address, so this asks Temporal for the pollers of its task queue. */
import { Connection } from '@temporalio/client';
import { milliseconds } from '../domain/timeouts.js';

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's API. */
const WORKFLOW_TASK_QUEUE = 1;

/** The worker to look for, and where it polls. */
export interface WorkerPollingInput {
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly taskQueue: string;
  readonly pid: number;
  readonly startedAt: Date;
}

/**
 * Whether this process has polled the task queue since `startedAt`.
 *
 * Temporal lists a dead worker for minutes and counts the end of its connection as activity. The check therefore
 * compares the pid, which the SDK includes in the identity, and the time of the last poll.
 */
export async function isWorkerPolling(input: WorkerPollingInput): Promise<boolean> {
  const connection = await Connection.connect({
    address: input.temporalAddress,
    connectTimeout: milliseconds('workerProbe'),
  });
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace: input.temporalNamespace,
      taskQueue: { name: input.taskQueue },
      taskQueueType: WORKFLOW_TASK_QUEUE,
    });
    const ours = new RegExp(`\\b${input.pid}\\b`);
    return (pollers ?? []).some(({ identity, lastAccessTime: at }) => {
      const asked = Number(at?.seconds ?? 0) * 1000 + Number(at?.nanos ?? 0) / 1e6;
      return ours.test(identity ?? '') && asked >= input.startedAt.getTime();
    });
  } finally {
    await connection.close();
  }
}
