/** Reads `limits` of sync.yaml: what counts as wrong with a sync. */
import { durationSeconds, secondsOr } from '../../domain/duration.js';
import type { SyncLimits } from '../../domain/sync.js';
import { DEFAULT_LIMITS } from '../../domain/sync-health.js';

/** The form of the key, which `sync.schema.json` has checked. */
export interface LimitsFile {
  success?: string;
  waiting?: string;
  deadLetters?: number;
  lag?: string;
  stalled?: string;
  retrying?: string;
}

/** `waitForPending`: of `upload`; while a run polls pending records, it settles nothing, and nothing is wrong with that. */
export function readLimits(limits: LimitsFile = {}, waitForPending?: string): SyncLimits {
  return {
    success: limits.success === undefined ? DEFAULT_LIMITS.success : durationSeconds(limits.success),
    waiting: secondsOr(limits.waiting, 'waitingLimit'),
    deadLetters: limits.deadLetters ?? DEFAULT_LIMITS.deadLetters,
    lag: limits.lag === undefined ? DEFAULT_LIMITS.lag : durationSeconds(limits.lag),
    retrying: secondsOr(limits.retrying, 'retryingLimit'),
    stalled:
      limits.stalled === undefined
        ? secondsOr(undefined, 'stalledLimit') + secondsOr(waitForPending, 'waitForPending')
        : durationSeconds(limits.stalled),
  };
}
