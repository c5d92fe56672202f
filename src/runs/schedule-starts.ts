/** Which starts of a schedule tell something. */
import type { ScheduleDescription } from '@temporalio/client';

/** The next starts, and the runs that were not started: because another was active, and because an outage lasted too long. */
export interface ScheduleStarts {
  readonly next: readonly Date[];
  readonly skipped: number;
  readonly missed: number;
}

/** What a schedule that is always on skips is no run that anybody misses: its run is the one that is active. */
export function startsOf(
  { args }: Pick<ScheduleDescription['action'], 'args'>,
  info: Pick<
    ScheduleDescription['info'],
    'nextActionTimes' | 'numActionsSkippedOverlap' | 'numActionsMissedCatchupWindow'
  >,
): ScheduleStarts {
  const [input] = (args ?? []) as readonly ({ readonly mode?: unknown } | undefined)[];
  if (input?.mode === 'live') return { next: [], skipped: 0, missed: 0 };
  const { nextActionTimes: next, numActionsSkippedOverlap: skipped, numActionsMissedCatchupWindow: missed } = info;
  return { next, skipped, missed };
}
