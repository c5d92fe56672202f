/** The platform's own words belong on the screen of who called; elsewhere they stay out, since they may quote records. */
import { PartnerSyncError } from '../../domain/errors.js';
import { PlatformError } from '../../platform/error.js';

/** The call, its answer, and all that the platform said of it: its message and its list of errors. */
export const saidOf = (error: PlatformError): string =>
  `${error.method} ${error.path} answered ${error.status}: ${[error.words, ...error.errors].join('; ')}`;

export function told(error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error;
  if (error.words === '') return error;
  return new PartnerSyncError(error.code, saidOf(error), error.details);
}
