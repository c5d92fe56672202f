/**
 * Shows the platform's message to the caller of `platform` commands, who sent the request. Everywhere else it is masked
 * or left out, since it may quote records (ADR 0009).
 */
import { PartnerSyncError } from '../../domain/errors.js';
import { PlatformError, responseText } from '../../platform/error.js';

/** An error of the platform with its message added, under the same code; any other error unchanged. */
export function withPlatformMessage(error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error;
  if (error.platformMessage === '') return error;
  return new PartnerSyncError(error.code, responseText(error), error.details);
}
