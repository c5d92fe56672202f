/**
 * The fast path from a database's bytes to JSON (ADR 0027): if the two are nearly the same, bytes are copied and no
 * string is allocated. A copier only ever shortens the way; its result is that of the field's steps, or it leaves the
 * value to them.
 */
import { isUtf8 } from 'node:buffer';
import type { RecordTexts } from '../../records/record-texts.js';
import { isAsciiByte } from '../../records/text-column.js';
import { byteOf, endOfDigits, hasByte } from './ascii.js';
import { ALWAYS_EXACT } from './exact-number.js';

const BACKSLASH = byteOf('\\');
const BLANK = byteOf(' ');
const MINUS = byteOf('-');
const POINT = byteOf('.');
const QUOTE = byteOf('"');
const ZERO = byteOf('0');

/**
 * Appends the JSON of the value in `bytes` from `from` to `to` (exclusive) to the record and returns true, if that is
 * exactly what the field's steps give for the same text. Otherwise it returns false, and the caller undoes what was
 * written and runs the steps.
 */
export type CopyValue = (bytes: Uint8Array, from: number, to: number, json: RecordTexts) => boolean;

/** What each byte of a text becomes, for all 256 bytes; 0 if that depends on other bytes, or JSON needs an escape. */
export type ByteTable = Uint8Array;

/** With this many zeros after the decimal point, JavaScript writes a number with an exponent, as the steps would. */
const ZEROS_WITHOUT_EXPONENT = 6;
const [TRUE, FALSE] = [byteOf('t'), byteOf('f')];

/** Bytes that JSON leaves unescaped. Bytes beyond ASCII belong to characters that need no escape. */
export const PLAIN_BYTES: ByteTable = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < BLANK || byte === QUOTE || byte === BACKSLASH ? 0 : byte,
);

/** The table of a function that maps each ASCII character to one ASCII character; 0 for all bytes beyond ASCII. */
export const asciiTable = (of: (text: string) => string): ByteTable =>
  Uint8Array.from({ length: 256 }, (_, byte) => (isAsciiByte(byte) ? of(String.fromCharCode(byte)).charCodeAt(0) : 0));

/** Copies a text through a table. Falls back to the steps for bytes that are not in it, and for invalid UTF-8. */
export function textCopier(table: ByteTable): CopyValue {
  return (bytes, from, to, json) => {
    json.room(to - from + 2);
    const target = json.bytes;
    let at = json.at;
    let bits = 0;
    target[at++] = QUOTE;
    for (let i = from; i < to; i++) {
      const byte = table[bytes[i]!]!;
      if (byte === 0) return false;
      bits |= byte;
      target[at++] = byte;
    }
    target[at++] = QUOTE;
    json.at = at;
    // A database may contain bytes that are not valid in its own encoding.
    return isAsciiByte(bits) || isUtf8(bytes.subarray(from, to));
  };
}

/** Copies a decimal without trailing zeros: `12.50` becomes `12.5`. */
export const copyNumber: CopyValue = (bytes, from, to, json) => {
  const end = endOfNumber(bytes, from, to);
  if (end < 0) return false;
  json.copy(bytes, from, end);
  return true;
};

/** Copies a whole number: `5.00` becomes `5`, and `5.5` is left to the steps. */
export const copyInteger: CopyValue = (bytes, from, to, json) => {
  const end = endOfNumber(bytes, from, to);
  if (end < 0 || hasByte(POINT, bytes, from, end)) return false;
  json.copy(bytes, from, end);
  return true;
};

/**
 * Where the number ends without trailing zeros; -1 unless it is plain, exact as a double, and written without an
 * exponent.
 */
function endOfNumber(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > ALWAYS_EXACT) return -1;
  const first = bytes[from] === MINUS ? from + 1 : from;
  const point = endOfDigits(bytes, first, to);
  if (point === first || (bytes[first] === ZERO && (point > first + 1 || first > from))) return -1;
  if (point === to) return to;
  if (bytes[point] !== POINT || point + 1 === to || endOfDigits(bytes, point + 1, to) !== to) return -1;
  let end = to;
  while (bytes[end - 1] === ZERO) end--;
  if (end - 1 === point) return point;
  let zeros = 0;
  while (bytes[point + 1 + zeros] === ZERO) zeros++;
  return bytes[first] === ZERO && zeros >= ZEROS_WITHOUT_EXPONENT ? -1 : end;
}

/** Copies a boolean that the database writes as `t`, `f`, `1` or `0`. */
export const copyBoolean: CopyValue = (bytes, from, to, json) => {
  if (to - from !== 1) return false;
  if (bytes[from] === TRUE || bytes[from] === ZERO + 1) json.write('true');
  else if (bytes[from] === FALSE || bytes[from] === ZERO) json.write('false');
  else return false;
  return true;
};
