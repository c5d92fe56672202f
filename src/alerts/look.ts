/** Looks at a sync: what is wrong with it now, compared with what was. */
import type { AlertSettings, AlertTarget } from '../domain/alerts.js';
import { formatSeconds } from '../domain/duration.js';
import type { SyncLimits } from '../domain/sync.js';
import { problemsOf, type HealthProblem } from '../domain/sync-health.js';
import type { Alerts, Looked, Subscription } from '../ledger/alerts.js';

/** Writes down what has changed. */
export const lookAt = (alerts: Alerts, { sync, targets, limits, failOn }: AlertSettings): Promise<Looked> =>
  alerts.look(sync, subscriptionsOf(targets), (state) =>
    'awaitedFor' in state ? problemsBeforeRuns(state.awaitedFor, limits) : problemsOf(state, limits, failOn),
  );

/** A sync that has never run has no usual times, so that only a limit of its own can say when it should have. */
const problemsBeforeRuns = (awaitedFor: number, { success }: SyncLimits): HealthProblem[] =>
  success === null || awaitedFor <= success
    ? []
    : [
        {
          trigger: 'late',
          what: `it has never run, and was first looked at ${formatSeconds(awaitedFor)} ago (limit ${formatSeconds(success)})`,
        },
      ];

/** Which target is told of what. */
export const subscriptionsOf = (targets: readonly AlertTarget[]): Subscription[] =>
  targets.flatMap(({ id, on }) => on.map((problem) => ({ target: id, problem })));
