/** What one process works on: everything on its task queue, beside it a few slices, and questions to itself alone. */
import { hostname } from 'node:os';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { queueOfWorker, sliceQueueOf } from '../domain/work.js';

/** The second one covers the gaps where the first begins and ends; more would find no time left. */
const SLICES_AT_ONCE = 2;

/** What they have in common. */
type Common = Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'maxHeartbeatThrottleInterval'>;
type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'maxConcurrentActivityTaskExecutions'>;

export interface Workers {
  /** Resolves when all are drained; when one of them fails, the others are drained too. */
  run(): Promise<void>;
  /** Asks all to drain. */
  shutdown(): void;
}

export async function createWorkers(
  taskQueue: string,
  activities: Activities,
  common: Common,
  workflows: Workflows,
): Promise<Workers> {
  const { loadSlice, replayLetters, examineWorker } = activities;
  // As the SDK would name it; the queue of its own has to be known to who reads this name from Temporal.
  const identity = `${process.pid}@${hostname()}`;
  const named = { ...common, identity };
  const workers = await Promise.all([
    Worker.create({ ...named, ...workflows, taskQueue, activities }),
    // However busy the others are, there is room for a question.
    Worker.create({
      ...named,
      taskQueue: queueOfWorker(taskQueue, identity),
      activities: { examineWorker },
      maxConcurrentActivityTaskExecutions: 2,
    }),
    Worker.create({
      ...named,
      taskQueue: sliceQueueOf(taskQueue),
      activities: { loadSlice, replayLetters },
      maxConcurrentActivityTaskExecutions: SLICES_AT_ONCE,
    }),
  ]);
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    shutdown,
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
