/** Asks each worker on its own task queue how it stands; whoever does not answer in time is frozen, or gone. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { queueOfWorker, type AskWorkersInput, type WorkerStates } from '../src/domain/work.js';

/** Longer than a worker takes to look at everything, busy as it may be with other things. */
const ANSWER_WITHIN = '15s';

export const askWorkers = ({ sync, taskQueue, identities }: AskWorkersInput): Promise<WorkerStates> =>
  Promise.all(
    identities.map(async (identity) => {
      const { examineWorker } = proxyActivities<Activities>({
        taskQueue: queueOfWorker(taskQueue, identity),
        scheduleToCloseTimeout: ANSWER_WITHIN,
        retry: { maximumAttempts: 1 },
      });
      return { identity, state: await examineWorker(sync).catch(() => null) };
    }),
  );
