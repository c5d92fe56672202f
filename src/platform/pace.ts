/** Spreads requests evenly over time: so many a second, and never two at the same moment. */
import { pause } from './retry.js';

/** The clock that pacing goes by; a test may have its own. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export const CLOCK: Clock = { now: () => performance.now(), pause };

/** Admits requests one after the other. */
export interface Pace {
  /** Requests a second from now on; null: as many as come. */
  set(perSecond: number | null): void;
  /** Resolves when the next request may be sent. */
  next(signal?: AbortSignal): Promise<void>;
}

export function createPace(clock: Clock = CLOCK): Pace {
  let gap = 0;
  /** When the last admitted request was or will be sent. */
  let last = -Infinity;
  return {
    set(perSecond) {
      gap = perSecond === null ? 0 : 1000 / perSecond;
    },
    async next(signal) {
      if (gap === 0) return;
      const now = clock.now();
      last = Math.max(now, last + gap);
      if (last > now) await clock.pause(last - now, signal);
    },
  };
}
