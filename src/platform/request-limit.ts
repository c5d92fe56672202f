/**
 * How many requests are on their way at once, for one sync in one process: fewer when the platform asks for
 * patience, slowly more again while it takes what comes.
 */
import pLimit from 'p-limit';
import { PartnerSyncError } from '../domain/errors.js';

export interface RequestLimit {
  /** Runs the request once there is room. */
  run<T>(request: () => Promise<T>): Promise<T>;
  /** Requests that may be on their way at once now. */
  readonly atOnce: number;
}

/** Requests that must pass, for each one on its way, before one more is tried. */
const PASSES_TO_RISE = 16;
export function openRequestLimit(most: number): RequestLimit {
  const limit = pLimit(most);
  let passes = 0;
  /** Grows with each lowering: what was on its way before it complains of the same crowd. */
  let era = 0;

  const lower = (begunIn: number): void => {
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
    run: (request) =>
      limit(async () => {
        const begunIn = era;
        try {
          const answer = await request();
          rise();
          return answer;
        } catch (error) {
          if (isOfTheCrowd(error)) lower(begunIn);
          throw error;
        }
      }),
  };
}

/** What was not even sent says nothing of how many requests are too many. */
const isOfTheCrowd = (error: unknown): boolean =>
  error instanceof PartnerSyncError && error.code === 'platform_busy' && error.details['unsent'] !== true;
