/** The limits of external ids: what the ledger can index, and what a URL can address. */

/**
 * An index entry of the ledger has 2,704 bytes at most, and compression cannot be relied on. The indexes contain ids in
 * UTF-8, and with two bytes for each UTF-16 unit (record-key.ts).
 */
const LEDGER_BYTES = 2_600;
/** In UTF-16 units; the default and upper limit of `upload.longestExternalId`. */
export const LONGEST_EXTERNAL_ID = LEDGER_BYTES / 2;
/** An id of up to this many bytes is within every limit, so nothing has to be counted. */
export const SURELY_SHORT = 512;

/** Rule and reason why no record can have this external id; undefined if one can. `longest` is in UTF-16 units. */
export function externalIdProblem(id: string, longest: number): { rule: string; reason: string } | undefined {
  if (id === '.' || id === '..')
    return { rule: 'external id', reason: 'is "." or "..", which in a URL means a relative path' };
  if (id.includes('\u0000')) return { rule: 'external id', reason: 'contains the character U+0000' };
  if (id.length > longest)
    return {
      rule: `external id: ${longest}`,
      reason: `longer than ${longest} characters, the most for an external id`,
    };
  if (!fitsLedger(id))
    return {
      rule: 'external id: ledger',
      reason: `longer than ${LEDGER_BYTES} bytes, the most that the ledger can look up`,
    };
  return undefined;
}

/** Whether the ledger can store and look up an id. */
export const isStorableId = (id: string): boolean => id.isWellFormed() && !id.includes('\u0000') && fitsLedger(id);

const fitsLedger = (id: string): boolean =>
  id.length <= LEDGER_BYTES / 3 || (id.length <= LONGEST_EXTERNAL_ID && Buffer.byteLength(id) <= LEDGER_BYTES);
