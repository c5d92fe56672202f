/**
 * The JSON text of a value straight from the database's bytes, for the hot path: nothing is made that the garbage
 * collector would have to find again.
 *
 * Each function writes exactly what its namesake of `json-text.ts` or `date-text.ts` gives, or answers false where only
 * those can tell; what it has written by then is undone by its caller.
 */
import { isUtf8 } from 'node:buffer';
import type { RecordTexts } from '../domain/record-texts.js';
import { isAsciiByte } from '../domain/texts.js';
import { ALWAYS_EXACT } from './exact-number.js';

export type CopyValue = (bytes: Uint8Array, from: number, to: number, json: RecordTexts) => boolean;

/** What each byte of a text becomes; 0 where the byte cannot be looked at alone. */
export type ByteTable = Uint8Array;

const code = (character: string): number => character.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const ZERO = code('0');
const POINT = code('.');
const MINUS = code('-');
const [DASH, COLON, BLANK, PLUS, T, Z] = [MINUS, code(':'), code(' '), code('+'), code('T'), code('Z')];
/** Of each month, in every year. */
const DAYS = Uint8Array.of(0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);
/** Lengths of `2010-12-01`, of `2010-12-01 08:26:00`, and of `+00` behind it. */
const [DAY_LENGTH, SECOND_LENGTH, UTC_LENGTH] = [10, 19, 3];
/** `String` writes a smaller number with an exponent. */
const ZEROS_WITHOUT_EXPONENT = 6;

/** Bytes that JSON writes as they are; those beyond ASCII are parts of characters that it writes as they are. */
export const PLAIN_BYTES: ByteTable = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < BLANK || byte === QUOTE || byte === BACKSLASH ? 0 : byte,
);

/** The bytes of ASCII that `of` changes alone, as it changes them; 0 for all beyond. */
export const asciiTable = (of: (text: string) => string): ByteTable =>
  Uint8Array.from({ length: 256 }, (_, byte) => (isAsciiByte(byte) ? code(of(String.fromCharCode(byte))) : 0));

/** A text, of which each byte is looked up. */
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
    // A database may hold what is no text in its own encoding.
    return isAsciiByte(bits) || isUtf8(bytes.subarray(from, to));
  };
}

/** `12.50` as `12.5`. */
export const copyNumber: CopyValue = (bytes, from, to, json) => {
  const end = endOfNumber(bytes, from, to);
  if (end < 0) return false;
  json.copy(bytes, from, end);
  return true;
};

/** `5.00` as `5`. */
export const copyInteger: CopyValue = (bytes, from, to, json) => {
  const end = endOfNumber(bytes, from, to);
  if (end < 0 || indexOf(POINT, bytes, from, end) < end) return false;
  json.copy(bytes, from, end);
  return true;
};

/** Where the number ends without the zeros that say nothing; -1 for what is no plain number. */
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

/** A boolean as PostgreSQL writes it. */
export const copyBoolean: CopyValue = (bytes, from, to, json) => {
  if (to - from !== 1) return false;
  if (bytes[from] === code('t')) json.write('true');
  else if (bytes[from] === code('f')) json.write('false');
  else return false;
  return true;
};

/** `2010-12-01`, a day that every year has. */
export const copyDate: CopyValue = (bytes, from, to, json) => {
  if (to - from !== DAY_LENGTH || !isDay(bytes, from)) return false;
  json.room(DAY_LENGTH + 2);
  json.put(QUOTE);
  json.copy(bytes, from, to);
  json.put(QUOTE);
  return true;
};

/** `2010-12-01 08:26:00.123456+00` as `2010-12-01T08:26:00.123456Z`. */
export const copyInstant: CopyValue = (bytes, from, to, json) => {
  const end = to - UTC_LENGTH;
  if (end < from + SECOND_LENGTH || !isDay(bytes, from) || bytes[from + DAY_LENGTH] !== BLANK) return false;
  if (bytes[end] !== PLUS || bytes[end + 1] !== ZERO || bytes[end + 2] !== ZERO) return false;
  const time = from + DAY_LENGTH + 1;
  if (!isBelow(24, bytes, time) || bytes[time + 2] !== COLON) return false;
  if (!isBelow(60, bytes, time + 3) || bytes[time + 5] !== COLON || !isBelow(60, bytes, time + 6)) return false;
  const fraction = from + SECOND_LENGTH;
  if (fraction < end) {
    // Zeros at the end would have to go.
    if (bytes[fraction] !== POINT || bytes[end - 1] === ZERO || end === fraction + 1) return false;
    if (endOfDigits(bytes, fraction + 1, end) !== end) return false;
  }
  json.room(to - from + 2);
  json.put(QUOTE);
  json.copy(bytes, from, from + DAY_LENGTH);
  json.put(T);
  json.copy(bytes, time, end);
  json.put(Z);
  json.put(QUOTE);
  return true;
};

function isDay(bytes: Uint8Array, from: number): boolean {
  if (endOfDigits(bytes, from, from + 4) !== from + 4) return false;
  if (bytes[from] === ZERO && bytes[from + 1] === ZERO && bytes[from + 2] === ZERO && bytes[from + 3] === ZERO)
    return false;
  if (bytes[from + 4] !== DASH || bytes[from + 7] !== DASH) return false;
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  return month >= 1 && month <= 12 && day >= 1 && day <= DAYS[month]!;
}

const isBelow = (limit: number, bytes: Uint8Array, from: number): boolean => {
  const number = twoDigits(bytes, from);
  return number >= 0 && number < limit;
};

/** -1 where there are no two digits. */
function twoDigits(bytes: Uint8Array, from: number): number {
  const tens = bytes[from]!;
  const ones = bytes[from + 1]!;
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : -1;
}

/** Whether the value that was written last, from that place in the record on, is a text. */
export const isTextAt = (place: number, json: RecordTexts): boolean => json.bytes[json.start + place] === QUOTE;

export const isNumberAt = (place: number, json: RecordTexts): boolean =>
  isDigit(json.bytes[json.start + place]!) || json.bytes[json.start + place] === MINUS;

export const isEmptyTextAt = (place: number, json: RecordTexts): boolean =>
  isTextAt(place, json) && json.written === place + 2;

/** Whether what was written from there on has an escape. */
export const hasEscape = (place: number, json: RecordTexts): boolean =>
  indexOf(BACKSLASH, json.bytes, json.start + place, json.at) < json.at;
