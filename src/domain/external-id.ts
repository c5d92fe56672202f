/** Which external ids a record may have: what the ledger can look up, and what an address can name. */

/**
 * An entry of the ledger's indexes has 2,704 bytes at most, and no compression that an id could count on. They hold an id
 * in UTF-8, and with two bytes a UTF-16 unit (record-key.ts).
 */
const LEDGER_BYTES = 2_600;
export const LONGEST_EXTERNAL_ID = LEDGER_BYTES / 2;
/** Bytes that are in no case too many, whatever they say. */
export const SURELY_SHORT = 512;

/** Rule and reason why no record can have this external id; undefined where one can. `longest`: in UTF-16 units. */
export function externalIdProblem(id: string, longest: number): { rule: string; reason: string } | undefined {
  if (id === '.' || id === '..')
    return { rule: 'external id', reason: 'is "." or "..", which in an address is a way and not a name' };
  if (id.includes('\u0000')) return { rule: 'external id', reason: 'holds the character U+0000' };
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

/** Whether the ledger can keep and look up an id, wherever it came from. */
export const isKeepable = (id: string): boolean => id.isWellFormed() && !id.includes('\u0000') && fitsLedger(id);

const fitsLedger = (id: string): boolean =>
  id.length <= LEDGER_BYTES / 3 || (id.length <= LONGEST_EXTERNAL_ID && Buffer.byteLength(id) <= LEDGER_BYTES);
