/**
 * Limits the requests of one sync in one process: how many are in flight, fewer when the platform is busy and slowly
 * more again while requests succeed; and how many are sent a second.
 */
import { PartnerSyncError } from '../domain/errors.js';
import type { Rate } from '../domain/monitoring/fleet.js';
import { callFacts } from './error.js';
import { createFairSemaphore } from './fair-semaphore.js';
import { CLOCK, createPace, type Clock, type Pace } from './pace.js';

/** For whom a request is. */
export interface RequestedBy {
  /** Names a queue, such as the tenant's: those that wait are let through in turn, so no queue waits for all of another. */
  readonly queue: string;
  /** Ends the wait; what has begun goes on. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A limit that adapts itself: halved when the platform is busy, raised by one after many successes (AIMD, as TCP does).
 */
export interface RequestLimit {
  /** Runs the request, which keeps to the pace, once the limit allows. Rejects with the signal's reason if aborted first. */
  run<T>(by: RequestedBy, request: (pace: Pace) => Promise<T>): Promise<T>;
  /** The current limit of requests in flight. */
  readonly atOnce: number;
  /** How many are in flight. */
  readonly underWay: number;
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
  const limit = createFairSemaphore(most);
  const pace = createPace(clock);
  let successes = 0;
  /** How often the limit was decreased: busy responses to requests that began before a decrease are about the same overload. */
  let decreases = 0;

  const decrease = (decreasesAtBegin: number): void => {
    successes = 0;
    if (decreasesAtBegin !== decreases) return;
    decreases++;
    limit.atOnce = Math.min(limit.atOnce, Math.max(1, limit.atOnce >> 1));
  };
  const increase = (): void => {
    if (limit.atOnce >= most || ++successes < SUCCESSES_TO_INCREASE * limit.atOnce) return;
    successes = 0;
    limit.atOnce++;
  };
  return {
    get atOnce() {
      return limit.atOnce;
    },
    get underWay() {
      return limit.acquired;
    },
    set(rate) {
      // After an overload a larger share is approached as slowly as ever.
      const wasFull = limit.atOnce === most;
      most = rate.atOnce;
      if (wasFull || limit.atOnce > most) limit.atOnce = most;
      pace.set(rate.perSecond);
    },
    async run({ queue, signal }, request) {
      const release = await limit.acquire(queue, signal);
      const decreasesAtBegin = decreases;
      try {
        const response = await request(pace);
        increase();
        return response;
      } catch (error) {
        if (isOverload(error)) decrease(decreasesAtBegin);
        throw error;
      } finally {
        release();
      }
    },
  };
}

/** A request that was not sent tells nothing about the right limit. */
const isOverload = (error: unknown): boolean =>
  error instanceof PartnerSyncError && error.code === 'platform_busy' && callFacts(error).unsent !== true;
