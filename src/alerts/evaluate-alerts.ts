/** Evaluates the alerts of a sync: compares what is wrong with it now with what was. */
import type { AlertSettings, AlertTarget } from '../domain/monitoring/alerts.js';
import { problemsOf } from '../domain/monitoring/sync-health.js';
import type { Alerts, AlertEvaluation, Subscription } from '../ledger/alerts.js';

/** Writes what has changed to the ledger. */
export const evaluateAlerts = (
  alerts: Alerts,
  { sync, targets, limits, failOn }: AlertSettings,
): Promise<AlertEvaluation> =>
  alerts.evaluate(sync, subscriptionsOf(targets), (state) => problemsOf(state, limits, failOn));

/** Which target is notified of what, each once: several entries of sync.yaml may name one address. */
export function subscriptionsOf(targets: readonly AlertTarget[]): Subscription[] {
  const all = targets.flatMap(({ id, on }) => on.map((problem): Subscription => ({ target: id, problem })));
  return [...new Map(all.map((each) => [`${each.target} ${each.problem}`, each])).values()];
}
