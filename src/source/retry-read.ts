/** Repeats reads that a lost session, a lock or a timeout has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../domain/errors.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { milliseconds } from '../domain/timeouts.js';

/** Before the second and the third attempt. What lasts longer is left to Temporal, which tries the activity again. */
const PAUSES = [milliseconds('sourceSecondAttempt'), milliseconds('sourceThirdAttempt')];

/** Repeats `read` after transient errors; `onTimeout` says whether a statement timeout counts as one. */
export async function retryRead<T>(
  read: () => Promise<T>,
  onTimeout: () => boolean,
  onRetry: OnRetry | undefined,
): Promise<T> {
  let failedAt: number | undefined;
  let attempt = 0;
  while (true) {
    try {
      return await read();
    } catch (error) {
      const pause = PAUSES[attempt];
      if (pause === undefined || !(error instanceof PartnerSyncError) || !error.retryable) throw error;
      if (error.details['timedOut'] === true && !onTimeout()) throw error;
      const now = performance.now();
      onRetry?.(error.code, now - (failedAt ??= now));
      await sleep(pause);
    }
    attempt++;
  }
}
