/**
 * The activities as the workflows call them, grouped by how long they may take. Whether a failed one is retried is
 * decided by the error's code, in activities/run-activity.ts.
 */
import {
  ActivityCancellationType,
  proxyActivities,
  workflowInfo,
  type ActivityOptions,
  type RetryPolicy,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { loadQueueOf } from '../src/domain/work.js';
import { milliseconds, times } from '../src/domain/timeouts.js';

/** Transport failures pass; each attempt continues from the ledger, where the one before stopped. */
const TRANSIENT: RetryPolicy = {
  initialInterval: milliseconds('retryFirst'),
  backoffCoefficient: times('retryFactor'),
  maximumInterval: milliseconds('retryLongest'),
};

/** Short reads and writes of the ledger. */
const BOOKKEEPING: ActivityOptions = {
  startToCloseTimeout: milliseconds('bookkeepingAttempt'),
  scheduleToCloseTimeout: milliseconds('bookkeepingTotal'),
  retry: TRANSIENT,
};

export const { openRun, detectSchemaDrift, approveHold, setRate, closeRun, abandonRun } =
  proxyActivities<Activities>(BOOKKEEPING);

/** The timeline says which mapping is planned. */
export const planMapping: Activities['planMapping'] = (input) =>
  proxyActivities<Activities>({ ...BOOKKEEPING, summary: shortSummary(`${input.mapping}: plan`) }).planMapping(input);

/**
 * Given up sooner than the others: the ledger may be what the run failed for, and the run's end must not wait for it.
 */
export const { recordFailure } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('failureRecordAttempt'),
  scheduleToCloseTimeout: milliseconds('failureRecordTotal'),
  retry: TRANSIENT,
});

/** Tried once: nothing depends on it, and a run must not wait for it. */
export const { pruneLedger } = proxyActivities<Activities>({
  scheduleToCloseTimeout: milliseconds('pruneAttempt'),
  retry: { maximumAttempts: 1 },
});

/** The audit of what was done to a run by an Update, which does not wait for it. */
export const { noteAction } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('noteAttempt'),
  scheduleToCloseTimeout: milliseconds('noteTotal'),
  retry: TRANSIENT,
});

/**
 * Loads send heartbeats: without the timeout for them, the load of a killed worker would stay with it until
 * startToClose. Cancelling waits until a load has finished what it has begun to send.
 */
const LOADS: ActivityOptions = {
  startToCloseTimeout: milliseconds('loadAttempt'),
  scheduleToCloseTimeout: milliseconds('loadTotal'),
  heartbeatTimeout: milliseconds('loadHeartbeat'),
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: TRANSIENT,
};

/** The activities with heartbeats; the Web UI's timeline shows each with the summary. */
export const summarized = (
  summary: string,
): Pick<Activities, 'deliverParents' | 'sweepDeadLetters' | 'removeVanished' | 'pollPending' | keyof Loads> =>
  proxyActivities<Activities>({ ...LOADS, summary: shortSummary(summary) });

/** The most bytes of a summary; Temporal rejects what begins a longer one. */
const LONGEST_SUMMARY = 200;

/** A summary as Temporal takes it. Names of mappings and schemas, which are ASCII, make up nearly all of it. */
export const shortSummary = (text: string): string =>
  text.length <= LONGEST_SUMMARY ? text : `${text.slice(0, LONGEST_SUMMARY - 3)}...`;

/** The activities that load a partition. */
export type Loads = Pick<Activities, 'loadPartition' | 'replayDeadLetters'>;

/**
 * The loads on the queue of workers that have room for one. Fails with a timeout if none has room for too long (ADR
 * 0025).
 */
export const onLoadQueue = (summary: string): Loads =>
  proxyActivities<Activities>({
    ...LOADS,
    summary: shortSummary(summary),
    taskQueue: loadQueueOf(workflowInfo().taskQueue),
    scheduleToStartTimeout: milliseconds('loadQueueWait'),
  });
