/** The workflows of alerts: the evaluation of all syncs that a schedule starts each minute, and the delivery to one target. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { DeliveredNotifications, WatchResult } from '../src/domain/monitoring/alerts.js';
import { milliseconds, times } from '../src/domain/timeouts.js';
import type { DeliverNotificationsInput } from '../src/domain/run/work.js';
import { asRunFailure } from './run-failure.js';

const { watchSyncs } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('watchAttempt'),
  scheduleToCloseTimeout: milliseconds('watchTotal'),
  retry: { initialInterval: milliseconds('retryFirst'), backoffCoefficient: times('retryFactor') },
});

const { deliverNotifications } = proxyActivities<Activities>({
  startToCloseTimeout: milliseconds('alertAttempt'),
  scheduleToCloseTimeout: milliseconds('alertTotal'),
  // Without it, what a killed worker was sending would stay with it until startToClose.
  heartbeatTimeout: milliseconds('heartbeatTimeout'),
  retry: {
    initialInterval: milliseconds('alertRetryFirst'),
    backoffCoefficient: times('retryFactor'),
    maximumInterval: milliseconds('alertRetryLongest'),
  },
});

/**
 * Evaluates every sync once. Fails if one cannot be evaluated. The result names syncs whose alerts cannot be read. Neither
 * kind of sync calls its ping address, so the service that expects the ping notices.
 */
export const watch = (): Promise<WatchResult> => asRunFailure(() => watchSyncs());

/** Delivers until nothing is due. Fails with `alert_undelivered` after a day; the next evaluation starts it again. */
export const alerts = (input: DeliverNotificationsInput): Promise<DeliveredNotifications> =>
  asRunFailure(() => deliverNotifications(input));
