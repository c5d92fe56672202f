/** What the processes of a fleet know together of the platform's Retry-After. */
import { milliseconds } from '../domain/timeouts.js';
import type { Clock } from './pace.js';

/** The pause that any process was asked for. */
export interface SharedRetryAfter {
  /** Milliseconds until requests may be sent, by what was last heard; 0: they may be sent now. */
  remainingMs(): number;
  /**
   * Makes sure that what is known is fresh; undefined if it is. Never rejects, and takes two seconds at most: without
   * the others a process goes by what it was told itself.
   */
  fresh(): Promise<void> | undefined;
  /** Tells the others that the platform wants nothing for so many milliseconds from now. */
  tell(ms: number): void;
}

/** The same, for its owner, which hears of pauses. */
export interface LearntRetryAfter extends SharedRetryAfter {
  /** Records that the platform asks for no requests for so many milliseconds from now. */
  learn(ms: number): void;
  /** Resolves when the other processes have been told, or after two seconds: a process awaits it before it exits. */
  told(): Promise<void>;
}

export interface RetryAfterParts {
  readonly clock: Clock;
  /** Asks the others, and calls `learn`. */
  readonly ask: () => Promise<unknown>;
  /** Tells the others. */
  readonly tell: (ms: number) => Promise<void>;
}

export function openSharedRetryAfter({ clock, ask, tell }: RetryAfterParts): LearntRetryAfter {
  let until = -Infinity;
  /** When it was last asked for, with or without an answer. */
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;
  let telling: Promise<void> = Promise.resolve();
  const remainingMs = (): number => Math.max(0, until - clock.now());
  const inTime = async (work: Promise<unknown>): Promise<void> => {
    const answered = new AbortController();
    const tooLong = clock.pause(milliseconds('retryAfterResponse'), answered.signal).catch(() => undefined);
    await Promise.race([work.catch(() => undefined), tooLong]);
    answered.abort();
  };
  const refresh = async (): Promise<void> => {
    await inTime(ask());
    askedAt = clock.now();
  };
  return {
    remainingMs,
    learn(ms) {
      askedAt = clock.now();
      if (ms > 0) until = Math.max(until, clock.now() + ms);
    },
    fresh() {
      if (clock.now() - askedAt < milliseconds('retryAfterFresh')) return undefined;
      asking ??= refresh().finally(() => (asking = undefined));
      return asking;
    },
    tell(ms) {
      // All requests in flight are told the same; once is enough.
      if (ms < remainingMs() + milliseconds('retryAfterSpread')) return;
      until = clock.now() + ms;
      telling = Promise.allSettled([telling, tell(ms)]).then(() => undefined);
    },
    told: () => inTime(telling),
  };
}
