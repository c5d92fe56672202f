/** The workflows of alerts: the look at all syncs that a schedule starts each minute, and the delivery to one target. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { DeliveredNotices, WatchResult } from '../src/domain/alerts.js';
import { milliseconds, times } from '../src/domain/timeouts.js';
import type { DeliverNoticesInput } from '../src/domain/work.js';
import { asRunFailure } from './run-failure.js';

const { watchSyncs } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('watchAttempt'),
  scheduleToCloseTimeout: milliseconds('watchTotal'),
  retry: { initialInterval: milliseconds('retryFirst'), backoffCoefficient: times('retryFactor') },
});

const { deliverNotices } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('alertAttempt'),
  scheduleToCloseTimeout: milliseconds('alertTotal'),
  retry: {
    initialInterval: milliseconds('alertRetryFirst'),
    backoffCoefficient: times('retryFactor'),
    maximumInterval: milliseconds('alertRetryLongest'),
  },
});

/** Looks once. Fails if the ledger cannot be asked; then no ping is sent either, and somebody outside notices. */
export const watch = (): Promise<WatchResult> => asRunFailure(() => watchSyncs());

/** Delivers until nothing is due. Fails with `alert_undelivered` after a day; the next look starts it again. */
export const alerts = (input: DeliverNoticesInput): Promise<DeliveredNotices> =>
  asRunFailure(() => deliverNotices(input));
