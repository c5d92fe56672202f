/** Spreads requests evenly over time: so many a second, and never two at the same moment. */
import { createFairSemaphore } from './fair-semaphore.js';
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
  /** Sets the requests a second from now on, also for those that are waiting; null: no limit. */
  set(perSecond: number | null): void;
  /**
   * Calls `begin` when the next request may be sent, and resolves as it does. The gap to the next request is counted from
   * then, so that it does not follow at once if `begin` has waited for something else. Rejects with the signal's reason
   * when it is aborted.
   */
  next<T>(begin: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createPace(clock: Clock = CLOCK): Pace {
  let gap = 0;
  /** When the last request was admitted. */
  let last = -Infinity;
  /** Only the first of those who wait looks at the clock. */
  const first = createFairSemaphore(1);
  let wake = (): void => undefined;

  const untilDue = async (signal: AbortSignal | undefined): Promise<void> => {
    for (let rest = last + gap - clock.now(); rest > 0; rest = last + gap - clock.now()) {
      const woken = new AbortController();
      wake = () => woken.abort();
      signal?.addEventListener('abort', wake, { once: true });
      await clock.pause(rest, woken.signal).catch(() => undefined);
      signal?.removeEventListener('abort', wake);
      signal?.throwIfAborted();
    }
  };
  return {
    set(perSecond) {
      gap = perSecond === null ? 0 : 1000 / perSecond;
      wake();
    },
    async next(begin, signal) {
      if (gap === 0) return begin();
      const release = await first.acquire(undefined, signal);
      try {
        await untilDue(signal);
        const begun = await begin();
        last = clock.now();
        return begun;
      } finally {
        release();
      }
    },
  };
}
