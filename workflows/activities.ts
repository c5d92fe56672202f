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
import { shortSummary } from '../src/domain/run/short-summary.js';
import { loadQueueOf } from '../src/domain/run/work.js';
import { milliseconds, times } from '../src/domain/timeouts.js';

/**
 * Each attempt continues from the ledger, where the one before stopped. A failure of the work says itself when the next attempt
 * begins (activities/run-activity.ts): this pause follows the death of a worker.
 */
const RETRY: RetryPolicy = {
  initialInterval: milliseconds('successorFirst'),
  backoffCoefficient: times('retryFactor'),
  maximumInterval: milliseconds('successorLongest'),
};

/** Without this, the work of a killed worker would stay with it until the attempt's time is over. */
const heartbeatTimeout = milliseconds('heartbeatTimeout');

/** Short reads and writes of the ledger. */
const BOOKKEEPING: ActivityOptions = {
  heartbeatTimeout,
  startToCloseTimeout: milliseconds('bookkeepingAttempt'),
  scheduleToCloseTimeout: milliseconds('bookkeepingTotal'),
  retry: RETRY,
};

/** The timeline of the Web UI shows each with the summary. */
const bookkeeping = (summary: string): Activities =>
  proxyActivities<Activities>({ ...BOOKKEEPING, summary: shortSummary(summary) });

export const { openRun } = bookkeeping('the lease and the stages of the run');
export const { detectSchemaDrift } = bookkeeping("columns, compared with those of the mappings' last run");
export const { setRate } = bookkeeping('limits of requests');
export const { closeRun } = bookkeeping('the report and the end of the run');
export const { failRun } = bookkeeping('the failure and the end of the run');
export const planMapping: Activities['planMapping'] = (input) =>
  bookkeeping(`${input.mapping}: plan`).planMapping(input);
export const approveHold: Activities['approveHold'] = (input) =>
  bookkeeping(`${input.mapping}: approved, on hold no longer`).approveHold(input);

/**
 * Given up sooner than the others: the ledger may be what the run failed for, and the run's end must not wait for it.
 */
export const { recordFailure } = proxyActivities<Activities>({
  summary: 'a run that has failed before it was opened',
  startToCloseTimeout: milliseconds('failureRecordAttempt'),
  scheduleToCloseTimeout: milliseconds('failureRecordTotal'),
  retry: RETRY,
});

/** Nothing depends on it, and a run must not wait for it. */
export const { pruneLedger } = proxyActivities<Activities>({
  summary: 'what is older than retention allows',
  scheduleToCloseTimeout: milliseconds('pruneAttempt'),
  retry: { maximumAttempts: times('pruneAttempts') },
});

/** The audit of what was done to a run by an Update, which does not wait for it. */
export const { recordAction } = proxyActivities<Activities>({
  summary: 'an entry of the audit',
  startToCloseTimeout: milliseconds('auditAttempt'),
  scheduleToCloseTimeout: milliseconds('auditTotal'),
  retry: RETRY,
});

/** Long work, a part at a time. Cancelling waits until an activity has finished what it has begun to send. */
const LONG_ACTIVITY: ActivityOptions = {
  startToCloseTimeout: milliseconds('longActivityAttempt'),
  scheduleToCloseTimeout: milliseconds('longActivityTotal'),
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: RETRY,
};

/** Nothing depends on it, and the next round begins soon. */
export const deliverSmallTenants: Activities['deliverSmallTenants'] = (input) =>
  proxyActivities<Activities>({
    ...LONG_ACTIVITY,
    retry: { maximumAttempts: times('smallTenantsAttempts') },
    summary: 'new rows of small tenants',
  }).deliverSmallTenants(input);

/** Calls the activities that do long work; the Web UI's timeline shows each call with the summary. */
export const activitiesWithSummary = (
  summary: string,
): Pick<
  Activities,
  | 'collectChanges'
  | 'followChanges'
  | 'recoverSmallTenants'
  | 'deliverParents'
  | 'sweepDeadLetters'
  | 'removeVanished'
  | 'pollPending'
  | keyof LoadActivities
> => proxyActivities<Activities>({ ...LONG_ACTIVITY, summary: shortSummary(summary) });

/** Nothing depends on it: what is left when a run in mode `live` ends is delivered by the next one. */
export const deliverLast: Activities['followChanges'] = (input) =>
  proxyActivities<Activities>({
    ...LONG_ACTIVITY,
    scheduleToCloseTimeout: milliseconds('liveEnd'),
    summary: 'changed rows that are left',
  }).followChanges(input);

/** The activities that load a partition, one time slice each. */
export type LoadActivities = Pick<Activities, 'loadPartition' | 'replayDeadLetters'>;

/**
 * The same activities on the load queue. They fail with a timeout if no worker has a free slot for too long (ADR 0025).
 */
export const onLoadQueue = (summary: string): LoadActivities =>
  proxyActivities<Activities>({
    ...LONG_ACTIVITY,
    summary: shortSummary(summary),
    taskQueue: loadQueueOf(workflowInfo().taskQueue),
    scheduleToStartTimeout: milliseconds('loadQueueWait'),
  });
