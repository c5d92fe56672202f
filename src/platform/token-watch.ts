/** The token as it is now; one that the platform has refused is waited out, for every request alike. */
import { formatSeconds } from '../domain/duration.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { Operation } from './contract/operation.js';
import { platformError, PlatformError } from './error.js';
import { pause } from './retry.js';
import type { PlatformSettings } from './settings.js';

export interface TokenWatch {
  /** Whether another token may come, and is waited for; otherwise a refusal is final. */
  readonly mayCome: boolean;
  /**
   * The token for a request. While it is one that was refused, waits for another one; throws what was wrong with it
   * once that has taken `tokenWait`.
   */
  current(operation: Operation, signal: AbortSignal | undefined): Promise<string>;
  /** The platform answered 401 to a request with this token. */
  refused(token: string, error: PlatformError): void;
  /** The platform took a request with this token that was sent at this time (`performance.now()`). */
  taken(token: string, sentAt: number): void;
}

/** What holds requests back: a refused token, or (null) none that could be sent. */
interface Trouble {
  readonly token: string | null;
  readonly error: PartnerSyncError;
  readonly since: number;
  /** When one request tries the same token again: the platform may have been wrong, or its clock slow. */
  nextTry: number;
  pauseAfterTry: number;
}

/** Milliseconds between two looks for another token. */
const LOOK = 500;
/** Milliseconds until the same one is tried again: at first, and at most. */
const FIRST_TRY = 1_000;
const LONGEST_TRY = 15_000;

export function watchToken({ token, tokenWait, notice }: PlatformSettings): TokenWatch {
  const mayCome = typeof token !== 'string' && tokenWait > 0;
  let trouble: Trouble | null = null;
  const endOf = ({ since }: Trouble): number => since + tokenWait;

  const read = async (): Promise<string> => {
    const text = typeof token === 'string' ? token : await token();
    // Elsewhere it would fail with a message that may quote it.
    if (/^[\x21-\x7e]+$/.test(text)) return text;
    throw new PartnerSyncError('config_invalid', 'the token (PLATFORM_TOKEN) holds characters that no token has');
  };
  const meet = (held: string | null, error: PartnerSyncError): Trouble => {
    const now = performance.now();
    if (trouble?.token === held && now < endOf(trouble)) return trouble;
    notice(`${error.message}; waiting for another token for up to ${formatSeconds(tokenWait / 1000)}`);
    return (trouble = { token: held, error, since: now, nextTry: now + FIRST_TRY, pauseAfterTry: 2 * FIRST_TRY });
  };

  return {
    mayCome,
    async current(operation, signal) {
      for (let waitedFor: Trouble | undefined; ;) {
        const text = await read().catch((error: unknown) => {
          // A file that is being replaced may be empty, or not there, for a moment.
          if (mayCome && error instanceof PartnerSyncError) return meet(null, error);
          throw error;
        });
        const met = typeof text === 'string' ? trouble : text;
        if (met === null || (typeof text === 'string' && met.token !== text)) return text as string;
        const now = performance.now();
        if (now >= endOf(met)) {
          if (waitedFor === met || typeof text !== 'string') throw lasting(operation, met, tokenWait);
          // That was refused for long to others; whoever comes later asks anew.
          return text;
        }
        waitedFor = met;
        if (typeof text === 'string' && now >= met.nextTry && now + met.pauseAfterTry < endOf(met)) {
          met.nextTry = now + met.pauseAfterTry;
          met.pauseAfterTry = Math.min(LONGEST_TRY, 2 * met.pauseAfterTry);
          return text;
        }
        await pause(Math.min(LOOK, endOf(met) - now), signal);
      }
    },
    refused(held, error) {
      if (mayCome) meet(held, error);
    },
    taken(held, sentAt) {
      if (trouble === null || (trouble.token === held && sentAt < trouble.since)) return;
      trouble = null;
      notice('the platform takes the token again; going on');
    },
  };
}

function lasting(operation: Operation, { token, error }: Trouble, tokenWait: number): PartnerSyncError {
  const noOther = `no other token came within ${formatSeconds(tokenWait / 1000)} (PLATFORM_TOKEN_WAIT)`;
  if (token === null || !(error instanceof PlatformError))
    return new PartnerSyncError(error.code, `${error.message}; ${noOther}`, error.details);
  const { words, requestId } = error;
  const what = `is refused with 401: ${words || 'no message'}; ${noOther}`;
  return platformError('platform_unauthorized', operation, what, { status: 401, words, requestId, lasting: true });
}
