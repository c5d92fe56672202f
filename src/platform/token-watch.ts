/** Provides the current token; after a rejected one, all requests wait for another. */
import { formatSeconds } from '../domain/values/duration.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { milliseconds } from '../domain/timeouts.js';
import type { Operation } from './contract/operation.js';
import { platformError, PlatformError } from './error.js';
import { pause } from './retry.js';
import type { PlatformSettings } from './client-settings.js';

/** The current token, and what the platform has said about it. */
export interface TokenWatch {
  /** Whether requests wait for another token; otherwise a rejection is final. */
  readonly canRenew: boolean;
  /**
   * The token for a request. While it is one that was rejected, waits for another; throws the rejection after
   * `tokenWait`.
   */
  current(operation: Operation, waiting: WaitingCall): Promise<string>;
  /** The platform returned 401 to a request with this token. */
  rejected(token: string, error: PlatformError): void;
  /** The platform accepted a request that was sent at this time (`performance.now()`). */
  accepted(sentAt: number): void;
}

/** The call that a token is for: what ends its wait, and who is told of it. */
export interface WaitingCall {
  readonly signal?: AbortSignal;
  readonly onRetry?: OnRetry;
}

/** Why requests wait. All times are those of `performance.now()`. */
interface RejectedToken {
  /** Null if none could be read. */
  readonly token: string | null;
  readonly error: PartnerSyncError;
  readonly since: number;
  /** How long requests wait for another one. */
  readonly until: number;
  /** When one request tries the same token again: the platform may have erred, or its clock may be slow. */
  nextTry: number;
  pauseAfterTry: number;
}

export function watchToken({ token, tokenWait, warn }: PlatformSettings): TokenWatch {
  const canRenew = typeof token !== 'string' && tokenWait > 0;
  let rejectedToken: RejectedToken | null = null;

  const read = async (): Promise<string> => {
    const text = typeof token === 'string' ? token : await token();
    // An invalid header would fail later, with a message that quotes it.
    if (/^[\x21-\x7e]+$/.test(text)) return text;
    throw new PartnerSyncError('config_invalid', 'the token (PLATFORM_TOKEN) contains characters that no token has');
  };
  const noteRejection = (held: string | null, error: PartnerSyncError): RejectedToken => {
    const since = performance.now();
    if (rejectedToken?.token === held && since < rejectedToken.until) return rejectedToken;
    warn(`${error.message}; waiting for another token for up to ${formatSeconds(tokenWait / 1000)}`);
    const firstTry = milliseconds('tokenFirstTry');
    rejectedToken = {
      token: held,
      error,
      since,
      until: since + tokenWait,
      nextTry: since + firstTry,
      pauseAfterTry: 2 * firstTry,
    };
    return rejectedToken;
  };

  return {
    canRenew,
    async current(operation, { signal, onRetry }) {
      let waitedFor: RejectedToken | undefined;
      while (true) {
        const text = await read().catch((error: unknown) => {
          // A file that is being replaced may be empty or missing for a moment.
          if (canRenew && error instanceof PartnerSyncError) return noteRejection(null, error);
          throw error;
        });
        const rejected = typeof text === 'string' ? rejectedToken : text;
        if (rejected === null || (typeof text === 'string' && rejected.token !== text)) return text as string;
        const now = performance.now();
        const step = nextStep(rejected, now, waitedFor === rejected);
        if (step === 'give up') throw noOtherToken(operation, rejected, tokenWait);
        if (step === 'send') {
          postponeNextTry(rejected, now);
          return text as string;
        }
        waitedFor = rejected;
        onRetry?.(rejected.error.code, now - rejected.since);
        await pause(Math.min(milliseconds('tokenLook'), rejected.until - now), signal);
      }
    },
    rejected(held, error) {
      if (canRenew) noteRejection(held, error);
    },
    accepted(sentAt) {
      // What was sent before the rejection says nothing of it, whichever token it carried.
      if (rejectedToken === null || sentAt < rejectedToken.since) return;
      rejectedToken = null;
      warn('the platform accepts the token again; continuing');
    },
  };
}

/**
 * What a request does whose token is the rejected one, or that has none. `hasWaited`: this request has waited for
 * another token already.
 */
function nextStep(
  { token, until, nextTry, pauseAfterTry }: RejectedToken,
  now: number,
  hasWaited: boolean,
): 'send' | 'wait' | 'give up' {
  // After the end a request that began later tries the token again, instead of failing at once.
  if (now >= until) return hasWaited || token === null ? 'give up' : 'send';
  const isTimeToTry = token !== null && now >= nextTry && now + pauseAfterTry < until;
  return isTimeToTry ? 'send' : 'wait';
}

/** Lets the other requests wait while one tries the token, longer each time. */
function postponeNextTry(rejected: RejectedToken, now: number): void {
  rejected.nextTry = now + rejected.pauseAfterTry;
  rejected.pauseAfterTry = Math.min(milliseconds('tokenLongestTry'), 2 * rejected.pauseAfterTry);
}

/** The error of a request that has waited for another token in vain. */
function noOtherToken(operation: Operation, { token, error }: RejectedToken, tokenWait: number): PartnerSyncError {
  const noOther = `no other token came within ${formatSeconds(tokenWait / 1000)} (PLATFORM_TOKEN_WAIT)`;
  if (token === null || !(error instanceof PlatformError))
    return new PartnerSyncError(error.code, `${error.message}; ${noOther}`, error.details);
  const { platformMessage, requestId } = error;
  const what = `was rejected with 401: ${platformMessage || 'no message'}; ${noOther}`;
  return platformError('platform_unauthorized', operation, what, {
    status: 401,
    platformMessage,
    requestId,
    final: true,
  });
}
