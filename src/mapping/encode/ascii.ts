/** Bytes of ASCII characters, and where they are in a text. */

/**
 * The byte of an ASCII character. Each file makes constants of the ones that it needs: an imported constant is read from
 * memory at each use, which costs some 3 % of the time of mapping a row.
 */
export const byteOf = (character: string): number => character.charCodeAt(0);

const ZERO = byteOf('0');

export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

/** Where the digits that begin at `from` end; at most `to`. */
export function endOfDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isDigit(bytes[at]!)) at++;
  return at;
}

/** Whether a byte is found between `from` and `to` (exclusive). */
export function hasByte(wanted: number, bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === wanted) return true;
  return false;
}
