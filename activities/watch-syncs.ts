/** Evaluates the alerts of syncs, and starts the delivery of notifications. */
import { activityInfo, getClient, log } from '@temporalio/activity';
import { evaluateAlerts } from '../src/alerts/evaluate-alerts.js';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { endAbandoned } from '../src/delivery/run/end-abandoned.js';
import { watchFeeds } from '../src/delivery/run/watch-feeds.js';
import {
  hasAlerts,
  needsWatch,
  type AlertSettings,
  type PingTarget,
  type WatchResult,
} from '../src/domain/monitoring/alerts.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { alertsWorkflowId, type DeliverNotificationsInput } from '../src/domain/run/work.js';
import { within } from '../src/observability/within.js';
import pLimit from 'p-limit';
import { recordSchedules } from './record-schedules.js';
import { runWorkflows } from './run-workflows.js';

/** How many syncs are evaluated at once: as many as there are connections to the ledger. */
const SYNCS_AT_ONCE = 8;
/** Of how many syncs the sources are asked at once. Each is another server, and most of the time is spent waiting for it. */
const SOURCES_AT_ONCE = 32;

/**
 * Records how schedules are and how change feeds stand, and ends runs that were terminated. Evaluates each sync that has alerts by itself, then calls
 * the ping addresses. A call says that all syncs with this address have been evaluated: it stays away for one that could
 * not be, or whose alerts cannot be read, and somebody outside notices.
 *
 * Throws the first error of a sync that could not be evaluated, once the others have been and their addresses are called.
 */
export async function watchSyncs(deps: Dependencies): Promise<WatchResult> {
  await recordSchedules(deps);
  const { syncs: all, unreadable } = await deps.alerting.all();
  const syncs = all.filter(hasAlerts);
  const watched = all.filter(needsWatch);
  await watchAllFeeds(deps, watched);
  let wrong = 0;
  const failures = new Map<string, unknown>();
  const evaluateAlone = async (settings: AlertSettings): Promise<void> => {
    const { sync } = settings;
    const evaluated = async (): Promise<number> => {
      await endAbandoned(deps.ledger, sync, runWorkflows).catch((error: unknown) => {
        log.warn('cannot tell which runs of a sync were terminated', codeOf(sync, error));
      });
      return hasAlerts(settings) ? evaluate(deps, settings) : 0;
    };
    try {
      if ((await within(milliseconds('evaluateSync'), evaluated())) > 0) wrong++;
    } catch (error) {
      failures.set(sync, error);
      log.warn('the alerts of a sync cannot be evaluated: nobody is notified', codeOf(sync, error));
    }
  };
  // Side by side, so that syncs which take their time keep none from being evaluated.
  const sideBySide = pLimit(SYNCS_AT_ONCE);
  await Promise.all(watched.map((settings) => sideBySide(evaluateAlone, settings)));
  for (const { sync } of unreadable) log.warn('the alerts of a sync cannot be read: nobody is notified', { sync });
  const notEvaluated = [
    ...syncs.filter(({ sync }) => failures.has(sync)).map(hasPing),
    ...unreadable.map((each) => each.hasPing),
  ];
  const pings = pingsOf(syncs).filter(({ url }) => !notEvaluated.some((has) => has(url)));
  const pingsUnanswered = await callPings(deps, pings);
  if (pingsUnanswered.length > 0) log.warn('ping addresses of alerts do not answer', { pings: pingsUnanswered });
  for (const [sync, error] of failures) throw named(sync, error);
  return { syncs: syncs.length, wrong, unreadable: unreadable.map(({ sync }) => sync), pingsUnanswered };
}

/** A source that cannot be asked says nothing about its feeds, and keeps no other sync from being evaluated. */
async function watchAllFeeds(deps: Dependencies, syncs: readonly AlertSettings[]): Promise<void> {
  const sideBySide = pLimit(SOURCES_AT_ONCE);
  const watchAlone = async ({ sync }: AlertSettings): Promise<void> => {
    await within(milliseconds('watchFeeds'), watchFeeds(deps, sync)).catch((error: unknown) => {
      log.warn('cannot tell how the change feeds of a sync stand', codeOf(sync, error));
    });
  };
  await Promise.all(syncs.map((settings) => sideBySide(watchAlone, settings)));
}

/** The ping addresses of syncs, with the name of the sync in their labels. */
const pingsOf = (syncs: readonly AlertSettings[]): PingTarget[] =>
  syncs.flatMap(({ sync, pings }) => pings.map((ping) => ({ ...ping, label: `${sync}: ${ping.label}` })));

const hasPing =
  ({ pings }: AlertSettings) =>
  (url: string): boolean =>
    pings.some((ping) => ping.url === url);

/** Calls each address once, although several syncs may have it. Returns those that do not answer. */
async function callPings({ alerting }: Dependencies, pings: readonly PingTarget[]): Promise<string[]> {
  const byAddress = new Map(pings.map((ping) => [ping.url, ping]));
  const answers = await Promise.all(
    [...byAddress.values()].map(async (ping) => ({ ping, ...(await alerting.ping(ping)) })),
  );
  return answers.filter(({ delivered }) => !delivered).map(({ ping }) => ping.label);
}

/** Evaluates one sync, starts what delivers its notifications, and returns how many problems it has. */
async function evaluate({ ledger }: Dependencies, settings: AlertSettings): Promise<number> {
  const { open, due } = await evaluateAlerts(ledger.alerts, settings);
  await beginDelivery(settings, due);
  return open;
}

const codeOf = (sync: string, error: unknown): object => ({
  sync,
  code: error instanceof PartnerSyncError ? error.code : 'unexpected',
});

/** The error of one sync among several. */
const named = (sync: string, error: unknown): unknown =>
  error instanceof PartnerSyncError
    ? new PartnerSyncError(error.code, `${sync}: ${error.message}`, error.details)
    : error;

/**
 * The same for one sync, at the end of its run. Never rejects: a run does not fail for its alerts, and the watch workflow
 * evaluates them again within a minute.
 */
export async function evaluateAfterRun(deps: Dependencies, sync: string): Promise<void> {
  try {
    const settings = await deps.alerting.of(sync);
    if (settings !== null) await within(milliseconds('evaluateSync'), evaluate(deps, settings));
  } catch (error) {
    log.warn('could not evaluate alerts at the end of a run; the watch workflow will', codeOf(sync, error));
  }
}

/** Starts the workflows that deliver to targets, unless they are running: then they find what is due by themselves. */
async function beginDelivery({ sync, targets }: AlertSettings, due: readonly string[]): Promise<void> {
  const { taskQueue } = activityInfo();
  for (const { id, label } of targets.filter((target) => due.includes(target.id))) {
    const input: DeliverNotificationsInput = { sync, target: id };
    await getClient().workflow.start('alerts', {
      taskQueue,
      workflowId: alertsWorkflowId(taskQueue, input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowExecutionTimeout: milliseconds('alertWorkflow'),
      args: [input],
      staticSummary: `Notifies ${label} of ${sync} of what is wrong, or no longer is`,
    });
  }
}
