/** Percent-decodes a part of an address. */
import { PartnerSyncError } from '../domain/errors.js';

/** The decoded part. Throws `config_invalid` for a stray %, as in a password that was not encoded. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source has a % that is not followed by two hexadecimal digits; write a literal % as %25',
    );
  }
}
