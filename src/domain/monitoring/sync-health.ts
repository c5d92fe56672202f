/** Judges a sync by limits: what is wrong with it now, said from what the ledger knows. */
import { COUNT_BOUND, quantity, quantityToBound } from '../values/quantity.js';
import { formatSeconds } from '../values/duration.js';
import type { SkippedMapping } from '../run/run.js';
import type { FailOn, SyncLimits } from '../sync/sync.js';
import { behind, unreadable, type WatchedFeed } from './feed-health.js';
import { seconds } from '../timeouts.js';

/** The limits of a sync that declares none. */
export const DEFAULT_LIMITS: SyncLimits = {
  success: null,
  scheduledGap: null,
  paused: seconds('pausedLimit'),
  waiting: seconds('waitingLimit'),
  deadLetters: null,
  lag: null,
  retrying: seconds('retryingLimit'),
  stalled: seconds('stalledLimit') + seconds('waitForPending'),
};

/** A schedule that starts no runs. */
export interface PausedSchedule {
  readonly name: string;
  /** When that was first seen. */
  readonly since: Date;
  /** Why, and by whom; null if nobody has said. */
  readonly note: string | null;
}

/** A run that works, and was told to pause. */
export interface PausedRun {
  readonly workflowId: string;
  readonly since: Date;
  /** By whom, and why; null if nobody has said. */
  readonly by: string | null;
  readonly reason: string | null;
}

/** What is judged of a sync. Times are those of one clock; null where there is nothing yet. */
export interface EvaluatedState {
  /** Ages are differences to it. */
  readonly now: Date;
  /** null if it has never run. */
  readonly firstRunAt: Date | null;
  /** Since when runs have been expected: the start of the first run; before any run, the first `schedules apply` or evaluation. */
  readonly expectedSince: Date;
  /** When an ordinary run last ended with nothing waiting. */
  readonly lastSuccessAt: Date | null;
  /** Up to when a run that follows change feeds, and has not ended, has delivered every mapping; null if there is none. */
  readonly followedUntil: Date | null;
  /** Runs that have ended since then, failed or incomplete; those that another run turned away do not count. */
  readonly runsSinceSuccess: number;
  /** The latest of them; `endedAt` is ISO 8601, and absent if nobody knows when it ended. */
  readonly latest: {
    readonly outcome: string;
    readonly mode?: string;
    readonly endedAt?: string | null;
    readonly failure: { readonly code: string } | null;
  } | null;
  /** Of the last 20 runs that a schedule started: seconds between two starts, and that a run takes, each the median. */
  readonly usualGap: number | null;
  readonly usualDuration: number | null;
  readonly oldestWaitingAt: Date | null;
  /** Up to `COUNT_BOUND`, as are runs. */
  readonly deadLetters: number;
  /** The mapping that lags most, and up to when it has been read; null before any has been. */
  readonly mostLagging: { readonly mapping: string; readonly readUntil: Date } | null;
  /** The one that was paused first comes first. */
  readonly pausedSchedules: readonly PausedSchedule[];
  /** The same of runs. */
  readonly pausedRuns: readonly PausedRun[];
  /** The mappings that a run which works leaves out, and why. */
  readonly skipped: readonly Pick<SkippedMapping, 'mapping' | 'message'>[];
  /** Removal plans that await approval, or are empty. */
  readonly plansAwaitingApproval: number;
  /** Why a run that works is not getting on, with a code of the catalogue, and the first and the last failure; null if nothing fails. */
  readonly retrying: { readonly code: string; readonly since: Date; readonly lastFailedAt: Date } | null;
  /** Mappings that a run holds until somebody approves. */
  readonly mappingsOnHold: number;
  /** When the run that has not ended last settled something; of several, the one that did so longest ago. */
  readonly noProgressSince: Date | null;
  /** Its change feeds, as the source was last asked. */
  readonly feeds: readonly WatchedFeed[];
}

/** What can be wrong with a sync, the worst first. */
export const HEALTH_TRIGGERS = [
  'failing',
  'feed-unreadable',
  'feed-behind',
  'late',
  'paused',
  'retrying',
  'stalled',
  'awaiting-approval',
  'incomplete',
  'waiting',
  'lagging',
  'dead-letters',
] as const;
export type HealthTrigger = (typeof HEALTH_TRIGGERS)[number];

/** Something that is wrong; the sentence has no id and no value of a row. */
export interface HealthProblem {
  readonly trigger: HealthTrigger;
  readonly what: string;
}

/** Everything that is wrong, the worst first; empty if all is well. `failOn` decides whether an incomplete run is. */
export function problemsOf(state: EvaluatedState, limits: SyncLimits, failOn: FailOn): HealthProblem[] {
  const since = (time: Date): number => (state.now.getTime() - time.getTime()) / 1000;
  const { runsSinceSuccess, oldestWaitingAt, mostLagging, noProgressSince } = state;
  const latest = isRecovered(state) ? null : state.latest;
  const success = successLimit(state, limits);
  const unsuccessful = since(lastGood(state) ?? state.expectedSince);
  const isFailing = latest?.outcome === 'failed';
  const checks: Readonly<Record<HealthTrigger, string | false>> = {
    failing: isFailing && `${inARow(runsSinceSuccess, 'failed')}, last with ${latest.failure?.code ?? 'unexpected'}`,
    'feed-unreadable': ofFeeds(state, unreadable),
    'feed-behind': ofFeeds(state, behind),
    late:
      success !== null &&
      unsuccessful > success &&
      `${unsuccess(state, formatSeconds(unsuccessful))} (limit ${formatSeconds(success)})`,
    paused:
      state.pausedSchedules.some((schedule) => since(schedule.since) > limits.paused) &&
      `${state.pausedSchedules.map(pausedSince).join('; ')} (limit ${formatSeconds(limits.paused)})`,
    retrying:
      state.retrying !== null &&
      // What failed once may work by now: the failures themselves must have lasted.
      (state.retrying.lastFailedAt.getTime() - state.retrying.since.getTime()) / 1000 >= limits.retrying &&
      `a run has been retrying for ${formatSeconds(since(state.retrying.since))}: ${state.retrying.code} (limit ${formatSeconds(limits.retrying)})`,
    stalled:
      noProgressSince !== null &&
      // A run on hold waits for a person, which is another problem.
      state.mappingsOnHold === 0 &&
      since(noProgressSince) > limits.stalled &&
      `a run has settled nothing for ${formatSeconds(since(noProgressSince))} (limit ${formatSeconds(limits.stalled)}): ${state.pausedRuns.length === 0 ? 'it waits, or is stuck' : state.pausedRuns.map(runPausedSince).join('; ')}`,
    'awaiting-approval': state.plansAwaitingApproval + state.mappingsOnHold > 0 && awaited(state),
    incomplete:
      failOn !== 'never' &&
      (leftOut(state.skipped) || (latest !== null && !isFailing && inARow(runsSinceSuccess, 'ended incomplete'))),
    waiting:
      oldestWaitingAt !== null &&
      since(oldestWaitingAt) > limits.waiting &&
      `a record has been waiting for ${formatSeconds(since(oldestWaitingAt))} (limit ${formatSeconds(limits.waiting)})`,
    lagging:
      limits.lag !== null &&
      mostLagging !== null &&
      since(mostLagging.readUntil) > limits.lag &&
      `${mostLagging.mapping} has not been read to the end for ${formatSeconds(since(mostLagging.readUntil))} (limit ${formatSeconds(limits.lag)})`,
    'dead-letters':
      limits.deadLetters !== null &&
      state.deadLetters > limits.deadLetters &&
      `${quantityToBound(state.deadLetters, 'dead letter')} (limit ${limits.deadLetters})`,
  };
  return HEALTH_TRIGGERS.flatMap((trigger) => {
    const what = checks[trigger];
    return what === false ? [] : [{ trigger, what }];
  });
}

/** They find what no feed has told, so that only one of their own makes up for one that did not succeed. */
const READS_EVERY_ROW: readonly (string | undefined)[] = ['full', 'mirror'];

/** Whether a run that follows change feeds has delivered everything since the latest bad run ended. */
export const isRecovered = ({ latest, followedUntil }: EvaluatedState): boolean =>
  followedUntil !== null &&
  latest?.endedAt != null &&
  !READS_EVERY_ROW.includes(latest.mode) &&
  followedUntil > new Date(latest.endedAt);

/** A run that follows change feeds succeeds all the time, and has no end. */
export function lastGood({ lastSuccessAt, followedUntil }: EvaluatedState): Date | null {
  return lastSuccessAt === null || (followedUntil !== null && followedUntil > lastSuccessAt)
    ? followedUntil
    : lastSuccessAt;
}

/** A run in mode live may work for a day before its report says so. */
const leftOut = (skipped: EvaluatedState['skipped']): string | false =>
  skipped.length > 0 &&
  `a run leaves out ${skipped.map(({ mapping, message }) => `${mapping}: ${message}`).join('; ')}`;

/** What is wrong with each feed, in one sentence; false if nothing is. */
function ofFeeds(
  { feeds, now }: EvaluatedState,
  problemOf: (feed: WatchedFeed, now: Date) => string | null,
): string | false {
  const problems = feeds.map((feed) => problemOf(feed, now)).filter((problem) => problem !== null);
  return problems.length > 0 && problems.join('; ');
}

/** How long the last success may be ago, in seconds; null where nothing says so. */
export const successLimit = (state: EvaluatedState, limits: SyncLimits): number | null =>
  limits.success ?? defaultSuccess(state, limits);

/**
 * How long the last success may be ago if nobody has said it: twice the usual time between two scheduled runs, and the
 * time that one takes; until enough of them have ended, twice the time that the schedules declare. Null for a sync without
 * a schedule, and while a first run works, which may read for long: `stalled` tells if it does not get on.
 */
function defaultSuccess(
  { usualGap, usualDuration, noProgressSince }: EvaluatedState,
  limits: SyncLimits,
): number | null {
  if (usualGap !== null) return 2 * usualGap + (usualDuration ?? 0);
  return limits.scheduledGap === null || noProgressSince !== null ? null : 2 * limits.scheduledGap;
}

function unsuccess(state: EvaluatedState, time: string): string {
  const { firstRunAt } = state;
  if (lastGood(state) !== null) return `the last success was ${time} ago`;
  return firstRunAt === null
    ? `it has never run, and runs have been expected for ${time}`
    : `no run has succeeded since the first one ${time} ago`;
}

/** `the schedule nightly has been paused since 2026-03-01 12:00 UTC: stocktaking (ana@ops)`. */
export const pausedSince = ({ name, since, note }: PausedSchedule): string =>
  `the schedule ${name} has been paused since ${minuteOf(since)}${note === null ? '' : `: ${note}`}`;

/** `the run sync-shop-live has been paused since 2026-03-01 12:00 UTC by ana@ops: stocktaking`. */
export const runPausedSince = ({ workflowId, since, by, reason }: PausedRun): string =>
  `the run ${workflowId} has been paused since ${minuteOf(since)}${by === null ? '' : ` by ${by}`}${reason === null ? '' : `: ${reason}`}`;

const minuteOf = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const awaited = ({ mappingsOnHold, plansAwaitingApproval }: EvaluatedState): string =>
  [
    ...(mappingsOnHold === 0 ? [] : [`a run holds ${quantity(mappingsOnHold, 'mapping')} until somebody approves`]),
    ...(plansAwaitingApproval === 0
      ? []
      : [`${quantity(plansAwaitingApproval, 'removal plan awaits', 'removal plans await')} a decision of a person`]),
  ].join('; ');

function inARow(runs: number, what: string): string {
  if (runs === 1) return `the latest run ${what}`;
  return runs < COUNT_BOUND ? `the latest ${runs} runs ${what}` : `${quantityToBound(runs, 'run')} ${what} in a row`;
}
