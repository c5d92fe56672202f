/** Obeys Retry-After: until the time that it names, nothing at all is sent to the platform. */
import { formatSeconds } from '../domain/values/duration.js';
import { milliseconds } from '../domain/timeouts.js';
import type { Operation } from './contract/operation.js';
import { platformError } from './error.js';
import { pause } from './retry.js';
import type { SharedRetryAfter } from './shared-retry-after.js';

/** Holds back all requests of a client until the time that the platform named. */
export interface RetryAfterGate {
  /** Sends nothing for this many milliseconds from now; a later end that was named before stays. */
  extend(ms: number): void;
  /** Milliseconds until requests may be sent; 0: they may be sent now. */
  remainingMs(): number;
  /** Whether requests may be sent now, by what is known when others have been asked, too. */
  isOver(): Promise<boolean>;
  /**
   * Waits until requests may be sent. Throws `platform_busy`, with the time remaining, if that would take more than
   * `longest` milliseconds.
   */
  wait(operation: Operation, longest: number, signal: AbortSignal | undefined): Promise<void>;
}

/** `shared`: what other processes have heard, and are told. */
export function createRetryAfterGate(warn: (message: string) => void, shared?: SharedRetryAfter): RetryAfterGate {
  const worthLogging = milliseconds('retryAfterLogged');
  // Monotonic, unlike the wall clock.
  let until = -Infinity;
  let warnedUntil = -Infinity;
  const remainingMs = (): number => Math.max(0, until - performance.now(), shared?.remainingMs() ?? 0);
  const announce = (ms: number): void => {
    const end = performance.now() + ms;
    if (ms < worthLogging || end < warnedUntil + worthLogging) return;
    warnedUntil = end;
    warn(`the platform asks to wait for ${formatSeconds(ms / 1000)} (Retry-After): nothing is sent until then`);
  };
  return {
    remainingMs,
    extend(ms) {
      shared?.tell(ms);
      until = Math.max(until, performance.now() + ms);
      announce(ms);
    },
    async isOver() {
      await shared?.fresh();
      return remainingMs() === 0;
    },
    async wait(operation, longest, signal) {
      await shared?.fresh();
      for (let rest = remainingMs(); rest > 0; rest = remainingMs()) {
        announce(rest);
        if (rest > longest) {
          const then = new Date(Date.now() + rest).toISOString();
          throw platformError(
            'platform_busy',
            operation,
            `was not sent: the platform asks to wait until ${then} (Retry-After)`,
            { retryAfterMs: rest, unsent: true },
          );
        }
        await pause(rest + Math.random() * milliseconds('retryAfterSpread'), signal);
        await shared?.fresh();
      }
    },
  };
}
