/** Which starts of a Temporal Schedule tell something. */

/** What Temporal says of a schedule's starts. */
interface CountedStarts {
  readonly nextActionTimes: readonly Date[];
  readonly numActionsSkippedOverlap: number;
  readonly numActionsMissedCatchupWindow: number;
}

/** The next starts, and the runs that were not started: because another was active, and because an outage lasted too long. */
export interface ScheduleStarts {
  readonly next: readonly Date[];
  readonly skipped: number;
  readonly missed: number;
}

/**
 * What a schedule that is always on skips is no run that anybody misses: its run is the one that is active. `args`: of the
 * workflow that it starts.
 */
export function startsOf(
  { args = [] }: { readonly args?: readonly unknown[] },
  counted: CountedStarts,
): ScheduleStarts {
  const input = args[0] as { readonly mode?: unknown } | undefined;
  if (input?.mode === 'live') return { next: [], skipped: 0, missed: 0 };
  const { nextActionTimes: next, numActionsSkippedOverlap: skipped, numActionsMissedCatchupWindow: missed } = counted;
  return { next, skipped, missed };
}
