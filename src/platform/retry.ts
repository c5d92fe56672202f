/** When a request may be sent again, and after how long. Retries happen here and nowhere else below Temporal. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Answers by which the platform says that it did not take the request: safe to repeat, whatever the method. */
const REFUSED_FOR_NOW = new Set([425, 429, 503]);
/** Answers that leave open whether the request took effect: safe to repeat only where it is idempotent. */
const UNCLEAR = new Set([408, 500, 502, 504]);

/** Answers of a proxy, which never hands them on from the platform: it wants a password of its own, or a person to log in. */
const OF_A_PROXY = new Set([407, 511]);

export type StatusClass =
  'refused_for_now' | 'unclear' | 'unauthorized' | 'too_large' | 'redirect' | 'of_a_proxy' | 'refused';

export function classifyStatus(status: number): StatusClass {
  if (REFUSED_FOR_NOW.has(status)) return 'refused_for_now';
  if (OF_A_PROXY.has(status)) return 'of_a_proxy';
  if (UNCLEAR.has(status) || status > 504) return 'unclear';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 413) return 'too_large';
  if (status >= 300 && status < 400) return 'redirect';
  return 'refused';
}

const FIRST_DELAY = 250;
const LONGEST_DELAY = 15_000;
/** A Retry-After beyond this is treated as this: ten years are a slip, and would outlast it. */
const LONGEST_RETRY_AFTER = 24 * 3600_000;

/**
 * Milliseconds of a Retry-After header, or null where there is none that makes sense. A date is held against the
 * answer's own `Date`, so that clocks which differ do no harm; where there is none, against `now`.
 */
export function retryAfterMs(header: string | undefined, now: number, date?: string): number | null {
  if (header === undefined || header.trim() === '') return null;
  const seconds = Number(header);
  const answered = Date.parse(date ?? '');
  const ms = Number.isFinite(seconds)
    ? seconds * 1000
    : Date.parse(header) - (Number.isFinite(answered) ? answered : now);
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, LONGEST_RETRY_AFTER) : null;
}

/** Full jitter: anything between nothing and the exponential bound, so that clients do not march in step. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
}

/** Waits; rejects with the signal's reason when it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
