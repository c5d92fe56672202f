/** Copies dates and instants from a database's bytes to JSON; see {@link CopyValue}. */
import { byteOf, endOfDigits, isDigit } from './ascii.js';
import type { CopyValue } from './copy-value.js';
import { isLeapYear } from './date-from-database.js';

const BLANK = byteOf(' ');
const COLON = byteOf(':');
const MINUS = byteOf('-');
const PLUS = byteOf('+');
const POINT = byteOf('.');
const QUOTE = byteOf('"');
const ZERO = byteOf('0');

/** Lengths of `2010-12-01`, of `2010-12-01 08:26:00`, and of the offset `+00` after it. */
const [DAY_LENGTH, SECOND_LENGTH, UTC_LENGTH] = [10, 19, 3];
const [T, Z] = [byteOf('T'), byteOf('Z')];
/** Days of each month, from index 1, in a year that is not a leap year. */
const DAYS = Uint8Array.of(0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);

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
  if (bytes[from + 4] !== MINUS || bytes[from + 7] !== MINUS) return false;
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  if (day < 1) return false;
  // A month that does not exist has no days, or undefined, which no day is up to.
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
