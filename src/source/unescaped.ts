/** A part of an address with its %XX undone. */
import { PartnerSyncError } from '../domain/errors.js';

/** Throws `config_invalid` where a % stands by itself, as in a password that was not escaped. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source has a % that no two hexadecimal digits follow; a % itself is written as %25',
    );
  }
}
