/** Judges a sync by limits: what is wrong with it now, said from what the ledger knows. */
import { counted } from './counted.js';
import { formatSeconds } from './duration.js';
import type { FailOn, SyncLimits } from './sync.js';
import { seconds } from './timeouts.js';

/** The limits of a sync that declares none. */
export const DEFAULT_LIMITS: SyncLimits = {
  success: null,
  waiting: seconds('waitingLimit'),
  deadLetters: null,
  lag: null,
  retrying: seconds('retryingLimit'),
  stalled: seconds('stalledLimit') + seconds('waitForPending'),
};

/** What is judged of a sync. Times are those of one clock; null where there is nothing yet. */
export interface JudgedState {
  /** Ages are differences to it. */
  readonly now: Date;
  readonly firstRunAt: Date;
  /** When an ordinary run last ended with nothing waiting. */
  readonly lastSuccessAt: Date | null;
  /** Runs that have ended since then, failed or incomplete; those that another run turned away do not count. */
  readonly streak: number;
  /** The latest of them. */
  readonly latest: { readonly outcome: string; readonly failure: { readonly code: string } | null } | null;
  /** Of the last 20 runs that a schedule started: seconds between two starts, and that a run takes, each the median. */
  readonly usualGap: number | null;
  readonly usualDuration: number | null;
  readonly waiting: number;
  readonly oldestWaitingAt: Date | null;
  readonly deadLetters: number;
  /** The position that moved longest ago, of mappings that have one. */
  readonly oldestPosition: { readonly mapping: string; readonly movedAt: Date } | null;
  /** Removal plans that await approval, or are empty. */
  readonly plansAwaitingApproval: number;
  /** Why a run that works is not getting on, with a code of the catalogue; null if nothing fails. */
  readonly trouble: { readonly code: string; readonly since: Date } | null;
  /** Mappings that a run holds until somebody approves. */
  readonly mappingsOnHold: number;
  /** When the run that has not ended last settled something; of several, the one that did so longest ago. */
  readonly unmovedSince: Date | null;
}

/** What can be wrong with a sync, the worst first. */
export const HEALTH_TRIGGERS = [
  'failing',
  'late',
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
export function problemsOf(state: JudgedState, limits: SyncLimits, failOn: FailOn): HealthProblem[] {
  const since = (time: Date): number => (state.now.getTime() - time.getTime()) / 1000;
  const { latest, streak, oldestWaitingAt, oldestPosition, unmovedSince } = state;
  const success = limits.success ?? usualLimit(state);
  const unsuccessful = since(state.lastSuccessAt ?? state.firstRunAt);
  const isFailing = latest?.outcome === 'failed';
  const checks: Readonly<Record<HealthTrigger, string | false>> = {
    failing: isFailing && `${inARow(streak, 'failed')}, last with ${latest.failure?.code ?? 'unexpected'}`,
    late:
      success !== null &&
      unsuccessful > success &&
      (state.lastSuccessAt === null
        ? `no run has succeeded since the first one ${formatSeconds(unsuccessful)} ago (limit ${formatSeconds(success)})`
        : `the last success was ${formatSeconds(unsuccessful)} ago (limit ${formatSeconds(success)})`),
    retrying:
      state.trouble !== null &&
      since(state.trouble.since) > limits.retrying &&
      `a run has been retrying for ${formatSeconds(since(state.trouble.since))}: ${state.trouble.code} (limit ${formatSeconds(limits.retrying)})`,
    stalled:
      unmovedSince !== null &&
      // A run on hold waits for a person, which is another problem.
      state.mappingsOnHold === 0 &&
      since(unmovedSince) > limits.stalled &&
      `a run has settled nothing for ${formatSeconds(since(unmovedSince))} (limit ${formatSeconds(limits.stalled)}): it is paused, waits, or is stuck`,
    'awaiting-approval': state.plansAwaitingApproval + state.mappingsOnHold > 0 && awaited(state),
    incomplete: latest !== null && !isFailing && failOn !== 'never' && inARow(streak, 'ended incomplete'),
    waiting:
      oldestWaitingAt !== null &&
      since(oldestWaitingAt) > limits.waiting &&
      `a record has been waiting for ${formatSeconds(since(oldestWaitingAt))} (limit ${formatSeconds(limits.waiting)})`,
    lagging:
      limits.lag !== null &&
      oldestPosition !== null &&
      since(oldestPosition.movedAt) > limits.lag &&
      `the position of ${oldestPosition.mapping} last moved ${formatSeconds(since(oldestPosition.movedAt))} ago (limit ${formatSeconds(limits.lag)})`,
    'dead-letters':
      limits.deadLetters !== null &&
      state.deadLetters > limits.deadLetters &&
      `${counted(state.deadLetters, 'dead letter')} (limit ${limits.deadLetters})`,
  };
  return HEALTH_TRIGGERS.flatMap((trigger) => {
    const what = checks[trigger];
    return what === false ? [] : [{ trigger, what }];
  });
}

/**
 * How long the last success may be ago if nobody has said it: twice the usual time between two scheduled runs, and the
 * time that one takes. Null for a sync without enough scheduled runs to tell.
 */
export const usualLimit = ({ usualGap, usualDuration }: JudgedState): number | null =>
  usualGap === null ? null : 2 * usualGap + (usualDuration ?? 0);

const awaited = ({ mappingsOnHold, plansAwaitingApproval }: JudgedState): string =>
  [
    ...(mappingsOnHold === 0 ? [] : [`a run holds ${counted(mappingsOnHold, 'mapping')} until somebody approves`]),
    ...(plansAwaitingApproval === 0
      ? []
      : [`${counted(plansAwaitingApproval, 'removal plan awaits', 'removal plans await')} a decision of a person`]),
  ].join('; ');

const inARow = (runs: number, what: string): string =>
  runs === 1 ? `the latest run ${what}` : `the latest ${runs} runs ${what}`;
