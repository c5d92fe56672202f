/** What one process works on: everything on its task queue, and beside it a few slices. */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { sliceQueueOf } from '../domain/work.js';

/** The second one covers the gaps where the first begins and ends; more would find no time left. */
const SLICES_AT_ONCE = 2;

/** What both workers have in common. */
type Common = Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'maxHeartbeatThrottleInterval'>;
type Workflows = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'maxConcurrentActivityTaskExecutions'>;

export interface Workers {
  /** Resolves when both are drained; when one of them fails, the other one is drained too. */
  run(): Promise<void>;
  /** Asks both to drain. */
  shutdown(): void;
}

export async function createWorkers(
  taskQueue: string,
  activities: Activities,
  common: Common,
  workflows: Workflows,
): Promise<Workers> {
  const { loadSlice, replayLetters } = activities;
  const workers = await Promise.all([
    Worker.create({ ...common, ...workflows, taskQueue, activities }),
    Worker.create({
      ...common,
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
