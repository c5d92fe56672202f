/**
 * Limits the requests in flight, for one sync in one process: fewer when the platform is busy, slowly more again while
 * requests succeed.
 */
import pLimit from 'p-limit';
import { PartnerSyncError } from '../domain/errors.js';
import { callFacts } from './error.js';

/**
 * A limit that adapts itself: halved when the platform is busy, raised by one after many successes (AIMD, as TCP does).
 */
export interface RequestLimit {
  /** Runs the request once the limit allows. */
  run<T>(request: () => Promise<T>): Promise<T>;
  /** The current limit of requests in flight. */
  readonly atOnce: number;
}

/** Successes for each request of the limit before it is raised by one. */
const SUCCESSES_TO_INCREASE = 16;

/** A limit that begins at `most` and never exceeds it. */
export function createRequestLimit(most: number): RequestLimit {
  const limit = pLimit(most);
  let successes = 0;
  /** Counts the decreases: busy responses to requests that began before one are about the same overload. */
  let generation = 0;

  const decrease = (begunInGeneration: number): void => {
    successes = 0;
    if (begunInGeneration !== generation) return;
    generation++;
    limit.concurrency = Math.max(1, limit.concurrency >> 1);
  };
  const increase = (): void => {
    if (limit.concurrency === most || ++successes < SUCCESSES_TO_INCREASE * limit.concurrency) return;
    successes = 0;
    limit.concurrency++;
  };
  return {
    get atOnce() {
      return limit.concurrency;
    },
    run: (request) =>
      limit(async () => {
        const begunInGeneration = generation;
        try {
          const response = await request();
          increase();
          return response;
        } catch (error) {
          if (isOverload(error)) decrease(begunInGeneration);
          throw error;
        }
      }),
  };
}

/** A request that was not sent tells nothing about the right limit. */
const isOverload = (error: unknown): boolean =>
  error instanceof PartnerSyncError && error.code === 'platform_busy' && callFacts(error).unsent !== true;
