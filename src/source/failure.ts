/** Turns what drivers throw into our errors, and tries a read again that a lost session or a lock has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../domain/errors.js';
import type { Classified, Dialect } from './dialect.js';
import { inWords } from './failure-words.js';

/** Driver texts may quote rows and are left behind: only the code is shown. */
export async function inSource<T>(dialect: Dialect, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const { code, shown, timedOut = false, unfitValue = false } = dialect.classify(error);
    throw new PartnerSyncError(
      code,
      `source: ${what} failed (${inWords(shown)})`,
      { databaseCode: shown, timedOut, unfitValue },
      { cause: error },
    );
  }
}

/**
 * Milliseconds before the second and the third attempt: long enough for a killed session or a failover behind a
 * proxy. What lasts longer is Temporal's, which waits between attempts of an activity.
 */
const PAUSES = [200, 1000];

/** Repeats `read` after errors that may pass; `onTimeout` says whether asking again makes sense after a timeout. */
export async function readAgain<T>(read: () => Promise<T>, onTimeout: () => boolean): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const pause = PAUSES[attempt];
      if (pause === undefined || !(error instanceof PartnerSyncError) || !error.retryable) throw error;
      if (error.details['timedOut'] === true && !onTimeout()) throw error;
      await sleep(pause);
    }
  }
}

/** What Node says of a connection that cannot succeed by waiting. */
const TLS_REFUSED = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_OSSL)/;

/** The codes of Node itself, the same for every driver. */
export function classifyConnection(code: string, error: unknown): Classified {
  if (TLS_REFUSED.test(code)) return { code: 'config_invalid', shown: `TLS: ${code}` };
  if (code === 'ENOENT' || code === 'EACCES') return { code: 'config_invalid', shown: `a file of the URL: ${code}` };
  return { code: 'source_unreachable', shown: code || (error instanceof Error ? error.name : 'unknown error') };
}
