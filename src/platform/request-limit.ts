/**
 * Limits the requests of one sync in one process: how many are in flight, fewer when the platform is busy and slowly
 * more again while requests succeed; and how many are sent a second.
 */
import pLimit from 'p-limit';
import { PartnerSyncError } from '../domain/errors.js';
import type { Rate } from '../domain/fleet.js';
import { callFacts } from './error.js';
import { CLOCK, createPace, type Clock } from './pace.js';

/** Called right before each request that is sent, retries included; resolves when it may be sent. */
export type Turn = () => Promise<void>;

/**
 * A limit that adapts itself: halved when the platform is busy, raised by one after many successes (AIMD, as TCP does).
 */
export interface RequestLimit {
  /** Runs the request once the limit allows. It awaits its turn before it sends anything. */
  run<T>(request: (turn: Turn) => Promise<T>): Promise<T>;
  /** The current limit of requests in flight. */
  readonly atOnce: number;
}

/** A limit that can be set to something else while requests are in flight. */
export interface AdjustableLimit extends RequestLimit {
  set(rate: Rate): void;
}

/** Successes for each request of the limit before it is raised by one. */
const SUCCESSES_TO_INCREASE = 16;

/** A limit that begins at `atOnce` and never exceeds it. */
export function createRequestLimit(atOnce: number, clock: Clock = CLOCK): AdjustableLimit {
  let most = atOnce;
  const limit = pLimit(most);
  const pace = createPace(clock);
  const turn: Turn = () => pace.next();
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
    if (limit.concurrency >= most || ++successes < SUCCESSES_TO_INCREASE * limit.concurrency) return;
    successes = 0;
    limit.concurrency++;
  };
  return {
    get atOnce() {
      return limit.concurrency;
    },
    set(rate) {
      // After an overload a larger share is approached as slowly as ever.
      const wasFull = limit.concurrency === most;
      most = rate.atOnce;
      if (wasFull || limit.concurrency > most) limit.concurrency = most;
      pace.set(rate.perSecond);
    },
    run: (request) =>
      limit(async () => {
        const begunInGeneration = generation;
        try {
          const response = await request(turn);
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
