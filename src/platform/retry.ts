/**
 * What the status of a response says about sending the request again, and how long to wait before that. The client's
 * `call` retries operations that may be repeated; the upload of a batch and the push of a schema definition, which may
 * not, have loops of their own. Above them, Temporal retries the whole activity.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../domain/timeouts.js';

/** The platform did not process the request: it may be sent again, whatever the method. */
const REFUSED_FOR_NOW = new Set([425, 429, 503]);
/** In doubt: the request may have taken effect, so it is sent again only if that does no harm. So are all above 504. */
const IN_DOUBT = new Set([408, 500, 502, 504]);
/** Only a proxy returns these: it wants a password of its own, or a person to log in. */
const OF_A_PROXY = new Set([407, 511]);

/** Kinds of responses without success. `unauthorized` is 401 and 403; `refused` is every status of no other kind. */
export type StatusClass =
  | 'refused_for_now'
  | 'in_doubt'
  | 'unauthorized'
  | 'too_large'
  | 'redirect'
  | 'of_a_proxy'
  | 'refused';

/** Whether the response points elsewhere. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** The kind of a response whose status is 300 or above. */
export function classifyStatus(status: number): StatusClass {
  if (REFUSED_FOR_NOW.has(status)) return 'refused_for_now';
  if (OF_A_PROXY.has(status)) return 'of_a_proxy';
  if (IN_DOUBT.has(status) || status > 504) return 'in_doubt';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 413) return 'too_large';
  if (isRedirect(status)) return 'redirect';
  return 'refused';
}

/**
 * Milliseconds of a `Retry-After` header, which is in seconds or a date, and a day at most; null if there is none, or
 * none that makes sense, such as 0: at once, again and again, is no pace. A date is compared with the response's own `Date`, so
 * that clocks which differ do no harm;
 * without one, with `now`.
 */
export function retryAfterMs(header: string | undefined, now: number, date?: string): number | null {
  if (header === undefined || header.trim() === '') return null;
  const seconds = Number(header);
  const dateMs = Date.parse(date ?? '');
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - (Number.isFinite(dateMs) ? dateMs : now);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, milliseconds('retryAfterLongest')) : null;
}

/**
 * Milliseconds to wait after this many failures (0: the first one) if the platform names no time: anything between zero
 * and a bound that doubles ("full jitter"), so that clients do not retry at the same moment.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return (
    random() * Math.min(milliseconds('platformLongestBackoff'), milliseconds('platformFirstBackoff') * 2 ** failures)
  );
}

/** Waits this many milliseconds; rejects with the signal's reason when it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
