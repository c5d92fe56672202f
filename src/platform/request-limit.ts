/**
 * How many requests are on their way at once, for one sync in one process: fewer when the platform asks for
 * patience, slowly more again while it takes what comes; and none before the time that its Retry-After names.
 */
import pLimit from 'p-limit';
import { PartnerSyncError } from '../domain/errors.js';
import { pause } from './retry.js';

export interface RequestLimit {
  /** Runs the request once there is room. Throws `platform_busy` where the platform is to be left alone for long. */
  run<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Requests that may be on their way at once now. */
  readonly atOnce: number;
}

/** Requests that must pass, for each one on its way, before one more is tried. */
const PASSES_TO_RISE = 16;
/** Milliseconds for which requests wait here; a longer Retry-After is left to the activity's retry. */
const LONGEST_PAUSE = 60_000;

/** Milliseconds over which requests are spread after a Retry-After. */
const SPREAD = 250;

export function openRequestLimit(most: number): RequestLimit {
  const limit = pLimit(most);
  let passes = 0;
  let quietUntil = 0;
  /** Grows with each lowering: what was on its way before it complains of the same crowd. */
  let era = 0;

  const lower = (error: PartnerSyncError, begunIn: number): void => {
    const asked = error.details['retryAfterMs'];
    if (typeof asked === 'number') quietUntil = Math.max(quietUntil, Date.now() + asked);
    passes = 0;
    if (begunIn !== era) return;
    era++;
    limit.concurrency = Math.max(1, limit.concurrency >> 1);
  };
  const rise = (): void => {
    if (limit.concurrency === most || ++passes < PASSES_TO_RISE * limit.concurrency) return;
    passes = 0;
    limit.concurrency++;
  };
  return {
    get atOnce() {
      return limit.concurrency;
    },
    run: (request, signal) =>
      limit(async () => {
        for (let left = quietUntil - Date.now(); left > 0; left = quietUntil - Date.now()) {
          if (left > LONGEST_PAUSE)
            throw new PartnerSyncError('platform_busy', 'the platform has asked to be left alone for a while', {
              retryAfterMs: left,
            });
          // Not all workers at the same moment.
          await pause(left + Math.random() * SPREAD, signal);
        }
        const begunIn = era;
        try {
          const answer = await request();
          rise();
          return answer;
        } catch (error) {
          if (error instanceof PartnerSyncError && error.code === 'platform_busy') lower(error, begunIn);
          throw error;
        }
      }),
  };
}
