/** Whether a worker is at work: a worker has no address of its own to ask, so Temporal is asked. */
import { Connection } from '@temporalio/client';

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's interface. */
const WORKFLOW_TASK_QUEUE = 1;

export interface WorkerPollsInput {
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly taskQueue: string;
  readonly pid: number;
  readonly startedAt: Date;
}

/**
 * True when this process has asked Temporal for work since it was started. Temporal goes on naming a dead worker for
 * minutes, and counts the end of its connection as a sign of life: hence the pid, which the SDK puts into the identity.
 */
export async function workerPolls(input: WorkerPollsInput): Promise<boolean> {
  const connection = await Connection.connect({ address: input.temporalAddress, connectTimeout: 5_000 });
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
