/** Delivers what a target of a sync is to be told. */
import type { Alerting, DeliveredNotices } from '../domain/alerts.js';
import { PartnerSyncError } from '../domain/errors.js';
import { HEALTH_TRIGGERS } from '../domain/sync-health.js';
import type { DeliverNoticesInput } from '../domain/work.js';
import type { Alerts, DueAlert } from '../ledger/alerts.js';
import { subscriptionsOf } from './look.js';
import { noticeOf } from './notice.js';

/**
 * Sends all notices that are due for the target, the worst first, and notes each one that has arrived. One that has
 * arrived is sent again only if the ledger fails right after it. A target that sync.yaml does not have any more is told
 * nothing.
 *
 * Throws `alert_undelivered` if the target could not be told; `retryAfterMs` in its details says when it wants to be
 * asked again.
 */
export async function deliverNotices(
  alerts: Alerts,
  alerting: Alerting,
  { sync, target: id }: DeliverNoticesInput,
): Promise<DeliveredNotices> {
  const settings = await alerting.of(sync);
  const target = settings?.targets.find((each) => each.id === id);
  let delivered = 0;
  while (target !== undefined) {
    const [next] = worstFirst(await alerts.due(sync, subscriptionsOf([target])));
    if (next === undefined) break;
    const unfinished = await alerts.unfinished(sync);
    const open = unfinished.filter(({ endedAt }) => endedAt === null).map(({ problem }) => problem);
    const delivery = await alerting.send(target, noticeOf(next, open));
    if (!delivery.delivered)
      throw new PartnerSyncError(
        'alert_undelivered',
        `${sync} could not tell ${target.label}: ${delivery.why}`,
        delivery.retryAfter === null ? {} : { retryAfterMs: delivery.retryAfter },
      );
    await alerts.told(next);
    delivered++;
  }
  return { delivered };
}

/** What is over comes last. */
const worstFirst = (due: readonly DueAlert[]): DueAlert[] => due.toSorted((a, b) => rank(a) - rank(b));
const rank = ({ problem, endedAt }: DueAlert): number =>
  HEALTH_TRIGGERS.indexOf(problem) + (endedAt === null ? 0 : HEALTH_TRIGGERS.length);
