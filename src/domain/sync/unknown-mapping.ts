/** The error for a mapping's name that the sync does not have, wherever somebody may write one. */
import { PartnerSyncError } from '../errors.js';
import { nearest } from '../values/names.js';
import { quoted } from '../values/quoted.js';

/** `input_invalid`, with the nearest name and all that the sync has. */
export function unknownMapping(sync: string, name: string, known: readonly string[]): PartnerSyncError {
  const near = nearest(name, known);
  return new PartnerSyncError(
    'input_invalid',
    `sync ${sync} has no mapping ${quoted(name)}${near === undefined ? '.' : `; did you mean "${near}"?`} It has: ${known.join(', ')}`,
  );
}
