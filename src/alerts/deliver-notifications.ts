/** Delivers the notifications that are due for a target of a sync. */
import type { Alerting, DeliveredNotifications } from '../domain/monitoring/alerts.js';
import { PartnerSyncError } from '../domain/errors.js';
import { HEALTH_TRIGGERS } from '../domain/monitoring/sync-health.js';
import type { DeliverNotificationsInput } from '../domain/run/work.js';
import type { Alerts, DueAlert } from '../ledger/alerts.js';
import { subscriptionsOf } from './evaluate-alerts.js';
import { notificationOf } from './notification.js';

/**
 * Sends all notifications that are due for the target, the worst first, and records each delivery. One that
 * was delivered is sent again only if the ledger fails right after it. A target that sync.yaml does not have any more gets
 * nothing.
 *
 * Throws `alert_undelivered` if a delivery failed; `retryAfterMs` in its details says when the target wants to be
 * asked again.
 */
export async function deliverNotifications(
  alerts: Alerts,
  alerting: Alerting,
  { sync, target: id }: DeliverNotificationsInput,
): Promise<DeliveredNotifications> {
  const settings = await alerting.of(sync);
  // Several entries of sync.yaml may name one address, each with problems of its own.
  const targets = (settings?.targets ?? []).filter((each) => each.id === id);
  const [target] = targets;
  let delivered = 0;
  while (target !== undefined) {
    const [next] = worstFirst(await alerts.due(sync, subscriptionsOf(targets)));
    if (next === undefined) break;
    const unfinished = await alerts.unfinished(sync);
    const open = unfinished.filter(({ endedAt }) => endedAt === null).map(({ problem }) => problem);
    const delivery = await alerting.send(target, notificationOf(next, open));
    if (!delivery.delivered)
      throw new PartnerSyncError(
        'alert_undelivered',
        `${sync} could not notify ${target.label}: ${delivery.why}`,
        delivery.retryAfter === null ? {} : { retryAfterMs: delivery.retryAfter },
      );
    await alerts.recordDelivery(next);
    delivered++;
  }
  return { delivered };
}

/** What is over comes last. */
const worstFirst = (due: readonly DueAlert[]): DueAlert[] => due.toSorted((a, b) => rank(a) - rank(b));
const rank = ({ problem, endedAt }: DueAlert): number =>
  HEALTH_TRIGGERS.indexOf(problem) + (endedAt === null ? 0 : HEALTH_TRIGGERS.length);
