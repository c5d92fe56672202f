/** Whether syncs are well by their own limits, from the ledger alone: a schedule that is paused does not hide it. */
import type { ViewParts } from '../../composition/parts.js';
import { quantity, quantityToBound } from '../../domain/values/quantity.js';
import { formatSeconds } from '../../domain/values/duration.js';
import type { FailOn } from '../../domain/sync/sync.js';
import { lagLine, feedLine, type WatchedFeed } from '../../domain/monitoring/feed-health.js';
import {
  DEFAULT_LIMITS,
  HEALTH_TRIGGERS,
  pausedSince,
  problemsOf,
  type HealthProblem,
  type PausedRun,
  type PausedSchedule,
} from '../../domain/monitoring/sync-health.js';
import type { NotStarted, SyncState } from '../../ledger/views/sync-state.js';
import { loadAlerts } from '../../mapping/load-alerts.js';
import { continuedBy, pausedRunLine } from '../output/paused-run-line.js';
import { printable } from '../output/text-table.js';

/** The health of one sync. Times are ISO 8601 in UTC, ages in seconds. */
export interface SyncHealth {
  readonly sync: string;
  readonly ok: boolean;
  /** The worst first; empty if all is well. */
  readonly problems: readonly HealthProblem[];
  readonly lastSuccessAt: string | null;
  readonly lastSuccessAge: number | null;
  /** The mapping that has not been read to the end for the longest time, and for how long; null before any has been. */
  readonly lag: { readonly mapping: string; readonly seconds: number } | null;
  /** `delivered up to 2.0s ago; 3 changed rows to go`; null while no run in mode live works. */
  readonly live: string | null;
  /** Its change feeds, as the source was last asked, each with a sentence. */
  readonly feeds: readonly (WatchedFeed & { readonly summary: string })[];
  readonly oldestWaitingAge: number | null;
  /** 10,001 stands for more than 10,000. */
  readonly deadLetters: number;
  /** How many runs have failed or ended incomplete since then. */
  readonly runsSinceSuccess: number;
  /** How many were refused since then with `run_in_progress`; 10,001 stands for more than 10,000. */
  readonly refused: number;
  readonly pausedSchedules: readonly PausedSchedule[];
  readonly pausedRuns: readonly PausedRun[];
  /** Runs that schedules have not started since they were created, and when that was last seen to grow. */
  readonly notStarted: readonly (NotStarted & { readonly lastAge: number })[];
  /** The limits are the defaults, since the files of the sync cannot be read here. */
  readonly defaultLimits: boolean;
}

/**
 * The health of the sync, or of all that have run or are expected to: the worst first, then by name. `abandoned`: runs that
 * are not running, although the ledger has no end of them.
 */
export async function healthsOf(
  parts: ViewParts,
  sync: string | undefined,
  abandoned: readonly string[],
): Promise<SyncHealth[]> {
  const states = await (await parts.ledger()).syncStates.of(sync, abandoned);
  const folder = await parts.mappingsFolder();
  const healths = await Promise.all(
    states.map(async (state) => {
      // As alerts are evaluated: from sync.yaml alone, which is fast, and possible if a mapping is broken.
      const settings = await loadAlerts(folder, state.sync, parts.env);
      const { limits, failOn } = settings === 'unreadable' ? DEFAULTS : settings;
      const problems = problemsOf(state, limits, failOn);
      return {
        sync: state.sync,
        ok: problems.length === 0,
        problems,
        lastSuccessAt: state.lastSuccessAt?.toISOString() ?? null,
        lastSuccessAge: state.lastSuccessAt === null ? null : ageOf(state.lastSuccessAt, state),
        lag:
          state.mostLagging === null
            ? null
            : { mapping: state.mostLagging.mapping, seconds: ageOf(state.mostLagging.readUntil, state) },
        live: state.live === null ? null : lagLine(state.live, state.now),
        feeds: state.feeds.map((feed) => ({ ...feed, summary: feedLine(feed, state.now) })),
        oldestWaitingAge: state.oldestWaitingAt === null ? null : ageOf(state.oldestWaitingAt, state),
        deadLetters: state.deadLetters,
        runsSinceSuccess: state.runsSinceSuccess,
        refused: state.refused,
        pausedSchedules: state.pausedSchedules,
        pausedRuns: state.pausedRuns,
        notStarted: state.notStarted.map((schedule) => ({ ...schedule, lastAge: ageOf(schedule.lastAt, state) })),
        defaultLimits: settings === 'unreadable',
      };
    }),
  );
  return healths.sort((a, b) => rank(a) - rank(b));
}

/** For a sync whose sync.yaml cannot be read here, as on a machine that only watches. */
const DEFAULTS = { limits: DEFAULT_LIMITS, failOn: 'incomplete' as FailOn };

/** The place of the worst problem; a sync that is well comes last. The sort keeps those of one place in order. */
const rank = ({ problems: [worst] }: SyncHealth): number =>
  worst === undefined ? HEALTH_TRIGGERS.length : HEALTH_TRIGGERS.indexOf(worst.trigger);

const ageOf = (time: Date, { now }: SyncState): number => (now.getTime() - time.getTime()) / 1000;

/** For people: a line a sync, and one for each thing that is wrong. */
export const healthLines = (healths: readonly SyncHealth[]): string[] =>
  healths.flatMap(
    ({
      sync,
      problems,
      lastSuccessAge,
      live,
      feeds,
      deadLetters,
      refused,
      pausedSchedules,
      pausedRuns,
      notStarted,
      defaultLimits,
    }) => [
      `${sync}: ${problems[0]?.trigger ?? 'ok'}; ${successOf(lastSuccessAge, live)}${
        deadLetters === 0 ? '' : `; ${quantity(deadLetters, 'dead letter')}`
      }${defaultLimits ? ' (default limits: its files cannot be read here)' : ''}`,
      ...(live === null ? [] : [`  ${live}`]),
      ...feeds.map(({ summary }) => `  ${printable(summary)}`),
      ...problems.map(
        ({ trigger, what }) =>
          `  ${printable(what)}${trigger === 'stalled' && pausedRuns.length > 0 ? `; ${continuedBy(sync)}` : ''}`,
      ),
      // A problem names them all.
      ...(problems.some(({ trigger }) => trigger === 'paused')
        ? []
        : pausedSchedules.map((schedule) => `  ${printable(pausedSince(schedule))}`)),
      ...(problems.some(({ trigger }) => trigger === 'stalled')
        ? []
        : pausedRuns.map((run) => `  ${printable(pausedRunLine(sync, run))}`)),
      ...(refused === 0
        ? []
        : [
            `  ${quantityToBound(refused, 'run')} refused${lastSuccessAge === null ? '' : ' since then'}, as another one was working`,
          ]),
      ...notStarted.map((schedule) => `  ${notStartedLine(schedule)}`),
    ],
  );

/** A run in mode live that works has no success yet, and succeeds all the time. */
function successOf(age: number | null, live: string | null): string {
  if (age !== null) return `last success ${formatSeconds(age)} ago`;
  return live === null ? 'no success yet' : 'live';
}

/** `the schedule nightly has skipped 12 runs, as another one was active, and missed 1 run in outages; the last 5m 0s ago`. */
function notStartedLine({ name, skipped, missed, lastAge }: SyncHealth['notStarted'][number]): string {
  const what = [
    ...(skipped === 0 ? [] : [`skipped ${quantity(skipped, 'run')}, as another one was active`]),
    ...(missed === 0 ? [] : [`missed ${quantity(missed, 'run')} in outages`]),
  ];
  return `the schedule ${name} has ${what.join(', and ')}; the last ${formatSeconds(lastAge)} ago`;
}
