/** Turns drivers' errors into those of the catalogue. */
import { PartnerSyncError } from '../domain/errors.js';
import type { Classified, Dialect } from './dialect.js';
import { foreignText } from '../domain/values/foreign-text.js';
import { withMeaning } from './error-code-meanings.js';

/** Characters of what a database says that a message quotes. */
const QUOTED = 300;

/**
 * Runs `work`; what it throws becomes a {@link PartnerSyncError} `source: <what> failed`. Drivers' messages may quote rows,
 * so only their code is shown, and
 * of a name that does not exist, which is in the statement, also their text.
 */
export async function withSourceErrors<T>(dialect: Dialect, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const { code, shown, unknownName, timedOut = false, unfitValue = false } = dialect.classify(error);
    const said = unknownName === undefined ? '' : `; the database says: ${foreignText(unknownName, QUOTED)}`;
    throw new PartnerSyncError(
      code,
      `source: ${what} failed (${withMeaning(shown)}${said})`,
      { databaseCode: shown, timedOut, unfitValue },
      { cause: error },
    );
  }
}

/** Node's codes of TLS failures, which waiting does not cure. */
const TLS_REFUSED = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_OSSL)/;

/** Classifies the error codes of Node, which are the same for every driver. */
export function classifyConnection(code: string, error: unknown): Classified {
  if (TLS_REFUSED.test(code)) return { code: 'config_invalid', shown: `TLS: ${code}` };
  if (code === 'ENOENT' || code === 'EACCES') return { code: 'config_invalid', shown: `a file of the URL: ${code}` };
  return { code: 'source_unreachable', shown: code || (error instanceof Error ? error.name : 'unknown error') };
}
