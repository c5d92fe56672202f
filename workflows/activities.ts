/** The activities, grouped by how long they may take; which errors are tried again is decided by their code. */
import { ActivityCancellationType, proxyActivities, type RetryPolicy } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

/** Faults of the way pass: the ledger makes each attempt start where the last one ended. */
const PATIENT: RetryPolicy = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' };

/** Short look-ups and entries in the ledger. */
export const { openRun, compareSource, planMapping, closeRun, abandonRun } = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  scheduleToCloseTimeout: '6h',
  retry: PATIENT,
});

/**
 * Slices heartbeat: without a timeout on it, a worker that was killed would hold its slice until startToClose.
 * Cancelling waits for the slice to finish what it has begun to send.
 */
export const { deliverParents, loadSlice, replayLetters, sweepLetters, removeVanished, followMapping } =
  proxyActivities<Activities>({
    startToCloseTimeout: '30m',
    scheduleToCloseTimeout: '24h',
    heartbeatTimeout: '10s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: PATIENT,
  });
