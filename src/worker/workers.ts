/**
 * The Temporal workers of one process: one for all tasks, one for loads, and one for questions to this process alone.
 */
import { hostname } from 'node:os';
import { Worker, type WorkerDeploymentOptions, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { queueOfWorker, loadQueueOf } from '../domain/work.js';

/** The second load fills the gaps at the beginning and end of the first; more would find no processor time left. */
const CONCURRENT_LOADS = 2;

/** All other activities at once. A run has loads among them only if it has waited in vain (workflows/load-dispatch.ts). */
const CONCURRENT_ACTIVITIES = 16;

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
 */
export async function createWorkers(
  taskQueue: string,
  activities: Activities,
  common: Common,
  workflows: Workflows,
  deployment?: WorkerDeploymentOptions,
): Promise<Workers> {
  const { loadPartition, replayDeadLetters, examineWorker } = activities;
  // The SDK's own form. Anyone who reads it from Temporal can derive the queue of this process.
  const identity = `${process.pid}@${hostname()}`;
  const named = { ...common, identity };
  const versioned = { ...named, ...(deployment && { workerDeploymentOptions: deployment }) };
  const workers = await Promise.all([
    Worker.create({
      ...versioned,
      ...workflows,
      taskQueue,
      activities,
      maxConcurrentActivityTaskExecutions: CONCURRENT_ACTIVITIES,
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
      maxConcurrentActivityTaskExecutions: CONCURRENT_LOADS,
    }),
  ]);
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
    arePolling: () => workers.every((worker) => worker.getState() === 'RUNNING'),
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
