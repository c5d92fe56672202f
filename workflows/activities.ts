/** The activities, grouped by how long they may take; which errors are tried again is decided by their code. */
import {
  ActivityCancellationType,
  proxyActivities,
  workflowInfo,
  type ActivityOptions,
  type RetryPolicy,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { sliceQueueOf } from '../src/domain/work.js';

/** Faults of the way pass: the ledger makes each attempt start where the last one ended. */
const PATIENT: RetryPolicy = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' };

/** Short look-ups and entries in the ledger. */
export const { openRun, compareSource, planMapping, closeRun, abandonRun } = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  scheduleToCloseTimeout: '6h',
  retry: PATIENT,
});

/** The ledger may be what the run has failed for: then its end does not wait for it. */
export const { noteFailure } = proxyActivities<Activities>({
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '1m',
  retry: PATIENT,
});

/**
 * Slices heartbeat: without a timeout on it, a worker that was killed would hold its slice until startToClose.
 * Cancelling waits for the slice to finish what it has begun to send.
 */
const SLICES: ActivityOptions = {
  startToCloseTimeout: '30m',
  scheduleToCloseTimeout: '24h',
  heartbeatTimeout: '10s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: PATIENT,
};

export const { deliverParents, loadSlice, replayLetters, sweepLetters, removeVanished, followWaiting } =
  proxyActivities<Activities>(SLICES);

export type Slices = Pick<Activities, 'loadSlice' | 'replayLetters'>;

/** Longer than a slice takes: who waits longer does so for others that are stuck, or that are very many. */
const UNTIL_TURN = '20s';

/** The same for a worker that has room for a slice; fails with a timeout where none has for too long. */
export const inTurn = (): Slices =>
  proxyActivities<Activities>({
    ...SLICES,
    taskQueue: sliceQueueOf(workflowInfo().taskQueue),
    scheduleToStartTimeout: UNTIL_TURN,
  });
