/**
 * The Temporal workers of one process: one for all tasks, one for the load queue, and one for questions to this process alone.
 */
import { hostname } from 'node:os';
import { Worker, type WorkerDeploymentOptions, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { queueOfWorker, loadQueueOf } from '../domain/run/work.js';

/**
 * Activity slots of the load queue. The second fills the gaps between the time slices of the first; a third would find
 * no processor time.
 */
const LOAD_QUEUE_SLOTS = 2;

/** Activity slots of the common queue. A run loads in them only if it has waited for the load queue in vain (ADR 0032). */
const COMMON_QUEUE_SLOTS = 16;

/** Options that all workers share. */
type Common = Pick<
  WorkerOptions,
  | 'connection'
  | 'namespace'
  | 'dataConverter'
  | 'shutdownGraceTime'
  | 'maxHeartbeatThrottleInterval'
  | 'interceptors'
  | 'sinks'
>;
type Workflows = Pick<WorkerOptions, 'workflowBundle'>;

/** The workers of a process, as one. */
export interface Workers {
  /** Resolves when all are drained; when one of them fails, the others are drained too. */
  run(): Promise<void>;
  /** Asks all to drain. */
  shutdown(): void;
  /** Whether all of them take tasks. */
  arePolling(): boolean;
}

/**
 * Creates the workers; none polls before `run`. With a `deployment`, those that share their task queues with other processes
 * are of that version.
 *
 * @param activitiesOf given a function that tells whether the process is about to end
 */
export async function createWorkers(
  taskQueue: string,
  activitiesOf: (isDraining: () => boolean) => Activities,
  common: Common,
  workflows: Workflows,
  deployment?: WorkerDeploymentOptions,
): Promise<Workers> {
  let workers: readonly Worker[] = [];
  const arePolling = (): boolean => workers.every((worker) => worker.getState() === 'RUNNING');
  const activities = activitiesOf(() => !arePolling());
  const { loadPartition, replayDeadLetters, examineWorker } = activities;
  // The SDK's own form. Anyone who reads it from Temporal can derive the queue of this process.
  const identity = `${process.pid}@${hostname()}`;
  const named = { ...common, identity };
  const versioned = { ...named, ...(deployment && { workerDeploymentOptions: deployment }) };
  workers = await Promise.all([
    Worker.create({
      ...versioned,
      ...workflows,
      taskQueue,
      activities,
      maxConcurrentActivityTaskExecutions: COMMON_QUEUE_SLOTS,
    }),
    // Room for questions, however busy the other workers are. A version would bind each new process to queues of old ones.
    Worker.create({
      ...named,
      taskQueue: queueOfWorker(taskQueue, identity),
      activities: { examineWorker },
      maxConcurrentActivityTaskExecutions: 2,
    }),
    Worker.create({
      ...versioned,
      taskQueue: loadQueueOf(taskQueue),
      activities: { loadPartition, replayDeadLetters },
      maxConcurrentActivityTaskExecutions: LOAD_QUEUE_SLOTS,
    }),
  ]);
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
    arePolling,
    async run() {
      const running = workers.map((worker) => worker.run());
      try {
        await Promise.all(running);
      } finally {
        shutdown();
        await Promise.allSettled(running);
      }
    },
  };
}
