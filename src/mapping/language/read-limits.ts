/** Reads `limits` of sync.yaml: what counts as wrong with a sync. */
import { durationSeconds, secondsOr } from '../../domain/values/duration.js';
import type { FailOn, SyncLimits } from '../../domain/sync/sync.js';
import { DEFAULT_LIMITS } from '../../domain/monitoring/sync-health.js';
import { longestCronGap } from './cron-gap.js';

/** The keys of sync.yaml by which a sync is judged, each absent or of the form that `sync.schema.json` has checked. */
export interface LimitsFile {
  limits?: {
    success?: string;
    paused?: string;
    waiting?: string;
    deadLetters?: number;
    lag?: string;
    stalled?: string;
    retrying?: string;
  };
  failOn?: FailOn;
  upload?: { waitForPending?: string };
  schedules?: { cron?: string; every?: string }[];
}

export function readLimits({ limits = {}, failOn, upload, schedules = [] }: LimitsFile): SyncLimits {
  return {
    success: limits.success === undefined ? DEFAULT_LIMITS.success : durationSeconds(limits.success),
    scheduledGap: scheduledGapOf(schedules),
    paused: secondsOr(limits.paused, 'pausedLimit'),
    waiting: secondsOr(limits.waiting, 'waitingLimit'),
    // Where Temporal shows runs with dead letters as failed, `status` must not call the sync well.
    deadLetters: limits.deadLetters ?? (failOn === 'dead-letters' ? 0 : DEFAULT_LIMITS.deadLetters),
    lag: limits.lag === undefined ? DEFAULT_LIMITS.lag : durationSeconds(limits.lag),
    retrying: secondsOr(limits.retrying, 'retryingLimit'),
    // While a run polls pending records, it settles nothing, and nothing is wrong with that.
    stalled:
      limits.stalled === undefined
        ? secondsOr(undefined, 'stalledLimit') + secondsOr(upload?.waitForPending, 'waitForPending')
        : durationSeconds(limits.stalled),
  };
}

/**
 * A run of any schedule delivers what has changed, so the one that starts runs most often counts; not one that is always on,
 * whose run has no end.
 */
function scheduledGapOf(schedules: NonNullable<LimitsFile['schedules']>): number | null {
  const gaps = schedules.map(({ cron, every }) => {
    if (every !== undefined) return durationSeconds(every);
    return cron === undefined ? null : longestCronGap(cron, new Date());
  });
  return gaps.reduce((least, gap) => (least === null || (gap !== null && gap < least) ? gap : least), null);
}
