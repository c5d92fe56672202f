/**
 * The fast path from a database's bytes to JSON (ADR 0027): if the two are nearly the same, bytes are copied and no
 * string is allocated. A copier only ever shortens the way; its result is that of the field's steps, or it leaves the
 * value to them.
 */
import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '../../domain/json.js';
import type { RecordTexts } from '../../records/record-texts.js';
import { isAsciiByte } from '../../records/text-column.js';
import { isLeapYear } from './date-text.js';
import { ALWAYS_EXACT } from './exact-number.js';

/**
 * Appends the JSON of the value in `bytes` from `from` to `to` (exclusive) to the record and returns true, if that is
 * exactly what the field's steps give for the same text. Otherwise it returns false, and the caller undoes what was
 * written and runs the steps.
 */
export type CopyValue = (bytes: Uint8Array, from: number, to: number, json: RecordTexts) => boolean;

/** What each byte of a text becomes, for all 256 bytes; 0 if that depends on other bytes, or JSON needs an escape. */
export type ByteTable = Uint8Array;

const code = (character: string): number => character.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const ZERO = code('0');
const POINT = code('.');
const MINUS = code('-');
const [DASH, COLON, BLANK, PLUS, T, Z] = [MINUS, code(':'), code(' '), code('+'), code('T'), code('Z')];
/** Days of each month, from index 1, in a year that is not a leap year. */
const DAYS = Uint8Array.of(0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);
/** Lengths of `2010-12-01`, of `2010-12-01 08:26:00`, and of the offset `+00` after it. */
const [DAY_LENGTH, SECOND_LENGTH, UTC_LENGTH] = [10, 19, 3];
/** With this many zeros after the decimal point, JavaScript writes a number with an exponent, as the steps would. */
const ZEROS_WITHOUT_EXPONENT = 6;

/** Bytes that JSON leaves unescaped. Bytes beyond ASCII belong to characters that need no escape. */
export const PLAIN_BYTES: ByteTable = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < BLANK || byte === QUOTE || byte === BACKSLASH ? 0 : byte,
);

/** The table of a function that maps each ASCII character to one ASCII character; 0 for all bytes beyond ASCII. */
export const asciiTable = (of: (text: string) => string): ByteTable =>
  Uint8Array.from({ length: 256 }, (_, byte) => (isAsciiByte(byte) ? code(of(String.fromCharCode(byte))) : 0));

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
  if (end < 0 || indexOf(POINT, bytes, from, end) < end) return false;
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

function endOfDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isDigit(bytes[at]!)) at++;
  return at;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

function indexOf(wanted: number, bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== wanted) at++;
  return at;
}

/** Copies a boolean that the database writes as `t`, `f`, `1` or `0`. */
export const copyBoolean: CopyValue = (bytes, from, to, json) => {
  if (to - from !== 1) return false;
  if (bytes[from] === code('t') || bytes[from] === ZERO + 1) json.write('true');
  else if (bytes[from] === code('f') || bytes[from] === ZERO) json.write('false');
  else return false;
  return true;
};

/** Copies a date of the years 0001 to 9999: `2010-12-01`. */
export const copyDate: CopyValue = (bytes, from, to, json) => {
  if (to - from !== DAY_LENGTH || !isDay(bytes, from)) return false;
  json.room(DAY_LENGTH + 2);
  json.put(QUOTE);
  json.copy(bytes, from, to);
  json.put(QUOTE);
  return true;
};

/** Copies an instant in UTC as RFC 3339: `2010-12-01 08:26:00.123400+00` becomes `2010-12-01T08:26:00.1234Z`. */
export const copyInstant: CopyValue = (bytes, from, to, json) => {
  const end = to - UTC_LENGTH;
  if (end < from + SECOND_LENGTH || !isDay(bytes, from) || bytes[from + DAY_LENGTH] !== BLANK) return false;
  if (bytes[end] !== PLUS || bytes[end + 1] !== ZERO || bytes[end + 2] !== ZERO) return false;
  const time = from + DAY_LENGTH + 1;
  if (!isBelow(24, bytes, time) || bytes[time + 2] !== COLON) return false;
  if (!isBelow(60, bytes, time + 3) || bytes[time + 5] !== COLON || !isBelow(60, bytes, time + 6)) return false;
  const fraction = from + SECOND_LENGTH;
  let last = end;
  if (fraction < end) {
    if (bytes[fraction] !== POINT || end === fraction + 1) return false;
    if (endOfDigits(bytes, fraction + 1, end) !== end) return false;
    while (bytes[last - 1] === ZERO) last--;
    if (last === fraction + 1) last = fraction;
  }
  json.room(to - from + 2);
  const target = json.bytes;
  let at = json.at;
  target[at++] = QUOTE;
  for (let i = from; i < last; i++) target[at++] = bytes[i]!;
  target[at - last + time - 1] = T;
  target[at++] = Z;
  target[at++] = QUOTE;
  json.at = at;
  return true;
};

/** Whether a real day of the years 0001 to 9999 is written from `from` on. */
function isDay(bytes: Uint8Array, from: number): boolean {
  if (endOfDigits(bytes, from, from + 4) !== from + 4) return false;
  if (bytes[from] === ZERO && bytes[from + 1] === ZERO && bytes[from + 2] === ZERO && bytes[from + 3] === ZERO)
    return false;
  if (bytes[from + 4] !== DASH || bytes[from + 7] !== DASH) return false;
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  if (month < 1 || month > 12 || day < 1) return false;
  return (
    day <= DAYS[month]! ||
    (month === 2 && day === 29 && isLeapYear(100 * twoDigits(bytes, from) + twoDigits(bytes, from + 2)))
  );
}

const isBelow = (limit: number, bytes: Uint8Array, from: number): boolean => {
  const number = twoDigits(bytes, from);
  return number >= 0 && number < limit;
};

/** The number that two digits give; -1 if they are not digits. */
function twoDigits(bytes: Uint8Array, from: number): number {
  const tens = bytes[from]!;
  const ones = bytes[from + 1]!;
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : -1;
}

/** Whether the value that was written last, and begins at byte `place` of the record, is a text. */
export const isTextAt = (place: number, json: RecordTexts): boolean => json.bytes[json.start + place] === QUOTE;

const isNumberAt = (place: number, json: RecordTexts): boolean =>
  isDigit(json.bytes[json.start + place]!) || json.bytes[json.start + place] === MINUS;

/** Whether that value is the empty text. */
export const isEmptyTextAt = (place: number, json: RecordTexts): boolean =>
  isTextAt(place, json) && json.written === place + 2;

const hasEscape = (place: number, json: RecordTexts): boolean =>
  indexOf(BACKSLASH, json.bytes, json.start + place, json.at) < json.at;

/** Reads back the value that was written last and begins at byte `place` of the record. */
export function valueAt(place: number, json: RecordTexts): JsonValue {
  const from = json.start + place;
  if (isTextAt(place, json) && !hasEscape(place, json)) return json.bytes.toString('utf8', from + 1, json.at - 1);
  return JSON.parse(json.bytes.toString('utf8', from, json.at)) as JsonValue;
}

/**
 * Sets `range` to the text or number that was written last, without quotes, in bytes of the record. The range is empty
 * if the value is neither, or has escapes.
 */
export function rangeOfText(place: number, json: RecordTexts, range: { from: number; to: number }): void {
  const quote = isTextAt(place, json) ? 1 : 0;
  const isPlain = (quote === 1 || isNumberAt(place, json)) && !hasEscape(place, json);
  range.from = place + quote;
  range.to = isPlain ? json.written - quote : range.from;
}
