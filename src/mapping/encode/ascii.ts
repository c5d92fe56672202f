/** Bytes of ASCII characters, and where they are in a text. */

const code = (character: string): number => character.charCodeAt(0);

export const BLANK = code(' ');
export const QUOTE = code('"');
export const BACKSLASH = code('\\');
export const PLUS = code('+');
export const MINUS = code('-');
export const POINT = code('.');
export const COLON = code(':');
export const ZERO = code('0');

export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

/** Where the digits that begin at `from` end; at most `to`. */
export function endOfDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isDigit(bytes[at]!)) at++;
  return at;
}

/** Where a byte is first found between `from` and `to` (exclusive); `to` if it is not found. */
export function indexOfByte(wanted: number, bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== wanted) at++;
  return at;
}
