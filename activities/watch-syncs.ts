/** Looks at syncs that have alerts, and begins to deliver what people are to be told. */
import { activityInfo, getClient, log } from '@temporalio/activity';
import { lookAt } from '../src/alerts/look.js';
import type { Dependencies } from '../src/delivery/dependencies.js';
import type { AlertSettings, WatchResult } from '../src/domain/alerts.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { alertsWorkflowId, type DeliverNoticesInput } from '../src/domain/work.js';
import { within } from '../src/observability/within.js';

/** Looks at all syncs of the mappings folder, then calls the ping addresses: a call says that this look has worked. */
export async function watchSyncs({ ledger, alerting }: Dependencies): Promise<WatchResult> {
  const { syncs, unreadable } = await alerting.all();
  let wrong = 0;
  for (const settings of syncs) {
    const { open, due } = await lookAt(ledger.alerts, settings);
    if (open > 0) wrong++;
    await beginDelivery(settings, due);
  }
  for (const sync of unreadable) log.warn('the alerts of a sync cannot be read: nobody is told about it', { sync });
  const pings = syncs.flatMap(({ sync, pings }) => pings.map((ping) => ({ ...ping, label: `${sync}: ${ping.label}` })));
  const answers = await Promise.all(
    [...oncePerUrl(pings)].map(async (ping) => ({ ping, ...(await alerting.ping(ping)) })),
  );
  const pingsUnanswered = answers.filter(({ delivered }) => !delivered).map(({ ping }) => ping.label);
  if (pingsUnanswered.length > 0) log.warn('ping addresses of alerts do not answer', { pings: pingsUnanswered });
  return { syncs: syncs.length, wrong, unreadable, pingsUnanswered };
}

/** Several syncs may have one address. */
const oncePerUrl = <T extends { readonly url: string }>(pings: readonly T[]): Iterable<T> =>
  new Map(pings.map((ping) => [ping.url, ping])).values();

/**
 * The same look at one sync, at the end of its run. Never rejects: a run does not fail for its alerts, and the watch looks
 * again within a minute.
 */
export async function lookAfterRun({ ledger, alerting }: Dependencies, sync: string): Promise<void> {
  const look = async (settings: AlertSettings): Promise<void> => {
    const { due } = await lookAt(ledger.alerts, settings);
    await beginDelivery(settings, due);
  };
  try {
    const settings = await alerting.of(sync);
    if (settings !== null) await within(milliseconds('lookAfterRun'), look(settings));
  } catch (error) {
    const code = error instanceof PartnerSyncError ? error.code : 'unexpected';
    log.warn('could not check for alerts at the end of a run; the watch will', { sync, code });
  }
}

/** Starts the workflows that tell targets, unless they are running: then they find what is due by themselves. */
async function beginDelivery({ sync, targets }: AlertSettings, due: readonly string[]): Promise<void> {
  const { taskQueue } = activityInfo();
  for (const { id, label } of targets.filter((target) => due.includes(target.id))) {
    const input: DeliverNoticesInput = { sync, target: id };
    await getClient().workflow.start('alerts', {
      taskQueue,
      workflowId: alertsWorkflowId(taskQueue, input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      staticSummary: `Tells ${label} of ${sync} what is wrong, or no longer is`,
    });
  }
}
