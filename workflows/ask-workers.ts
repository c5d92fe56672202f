/** The workflow behind `partner-sync doctor`: asks each worker about its state, on the worker's own task queue. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { queueOfWorker, type AskWorkersInput, type WorkerStates } from '../src/domain/run/work.js';
import { milliseconds, times } from '../src/domain/timeouts.js';

/**
 * One state for each worker, in the order of `identities`; null for one that is frozen or gone and did not respond in
 * time.
 */
export const askWorkers = ({ sync, salt, taskQueue, identities }: AskWorkersInput): Promise<WorkerStates> =>
  Promise.all(
    identities.map(async (identity) => {
      const { examineWorker } = proxyActivities<Activities>({
        taskQueue: queueOfWorker(taskQueue, identity),
        scheduleToCloseTimeout: milliseconds('doctorWorker'),
        retry: { maximumAttempts: times('doctorWorkerAttempts') },
      });
      return { identity, state: await examineWorker({ sync, salt }).catch(() => null) };
    }),
  );
