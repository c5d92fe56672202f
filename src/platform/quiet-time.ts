/** The time before which the platform is sent nothing at all, since an answer's Retry-After has named it. */
import { formatSeconds } from '../domain/duration.js';
import type { Operation } from './contract/operation.js';
import { platformError } from './error.js';
import { pause } from './retry.js';

export interface QuietTime {
  /** An answer asks for so many milliseconds from now on. Of several answers the one that asks for most counts. */
  ask(ms: number): void;
  /** Milliseconds that are left of it; 0: requests may be sent. */
  left(): number;
  /**
   * Waits until it is over. Throws `platform_busy`, which says when to come again, where that would take more than
   * `longest` milliseconds.
   */
  wait(operation: Operation, longest: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Milliseconds over which the requests that have waited are spread, so that not all come in the same moment. */
const SPREAD = 250;
/** Milliseconds of waiting that somebody may want to know of. */
const WORTH_A_WORD = 10_000;

export function openQuietTime(notice: (message: string) => void): QuietTime {
  // By the clock that nobody sets.
  let until = -Infinity;
  let told = -Infinity;
  const left = (): number => Math.max(0, until - performance.now());
  return {
    left,
    ask(ms) {
      until = Math.max(until, performance.now() + ms);
      if (ms < WORTH_A_WORD || until < told + WORTH_A_WORD) return;
      told = until;
      notice(
        `the platform asks to be left alone for ${formatSeconds(ms / 1000)} (Retry-After): nothing is sent before`,
      );
    },
    async wait(operation, longest, signal) {
      for (let rest = left(); rest > 0; rest = left()) {
        if (rest > longest) {
          const then = new Date(Date.now() + rest).toISOString();
          throw platformError(
            'platform_busy',
            operation,
            `was not sent: the platform asks to be left alone until ${then} (Retry-After)`,
            { retryAfterMs: rest, unsent: true },
          );
        }
        await pause(rest + Math.random() * SPREAD, signal);
      }
    },
  };
}
