/**
 * Converts the database's text of dates and instants to RFC 3339, digit for digit: without Date, which rounds to
 * milliseconds.
 */
import { Temporal } from 'temporal-polyfill';
import { cutTrailingZeros } from './exact-number.js';
import { Rejection } from './rejection.js';

/** The days of the years 0001 to 9999, with February 29 in every year; {@link isRealDay} excludes it in common years. */
const DAY = '(?!0000)\\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31)';
const DATE = new RegExp(`^${DAY}$`);
const UTC_INSTANT = new RegExp(`^${DAY}[ T](?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:\\+00(?::?00)?|Z)$`);
/** Fast path for nearly all instants of PostgreSQL: in UTC, on a day up to the 28th, without trailing zeros. */
const USUAL_INSTANT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d*[1-9])?\+00$/;
/** Temporal would take a second 60 for the one before. */
const INSTANT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:[0-5]\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?$/;

/** A date, unchanged: `2010-12-01`. Rejects infinity, BC and years beyond 9999, which RFC 3339 cannot express. */
export function dateFromDatabase(text: string): string | Rejection {
  return DATE.test(text) && isRealDay(text) ? text : unreadableDate(text);
}

/**
 * An instant in UTC: `2010-12-01 08:26:00.123456+00` becomes `2010-12-01T08:26:00.123456Z`. Rejects text without a
 * zone.
 */
export function instantFromDatabase(text: string): string | Rejection {
  if (USUAL_INSTANT.test(text)) return `${text.slice(0, 10)}T${text.slice(11, -3)}Z`;
  if (!UTC_INSTANT.test(text)) return instantWithOffset(text);
  if (!isRealDay(text)) return unreadableDate(text);
  // Of an instant with Z the end is -1, which leaves out the Z.
  const end = text.lastIndexOf('+');
  return `${text.slice(0, 10)}T${withoutTrailingZeros(text.slice(11, end))}Z`;
}

/** Some databases store days that do not exist, such as 2011-02-29. */
const isRealDay = (text: string): boolean => !text.startsWith('-02-29', 4) || isLeapYear(Number(text.slice(0, 4)));

/** By the Gregorian calendar, as ISO 8601 extends it to all years. */
export const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** The source sets its session to UTC, but a text column may contain an instant with another offset. */
function instantWithOffset(text: string): string | Rejection {
  const [, date, time, hours, minutes = '00'] = INSTANT.exec(text) ?? [];
  if (date === undefined) return unreadableDate(text);
  try {
    return utcText(Temporal.Instant.from(`${date}T${time}${hours}:${minutes}`)) ?? unreadableDate(text);
  } catch {
    return unreadableDate(text);
  }
}

/** The instant in RFC 3339 and UTC; undefined outside the years 0001 to 9999. */
export function utcText(instant: Temporal.Instant): string | undefined {
  const text = instant.toString();
  return /^\d{4}-/.test(text) && !text.startsWith('0000') ? text : undefined;
}

/** Shortens a fraction of a second: `08:26:00.1200` becomes `08:26:00.12`, and `08:26:00.000` becomes `08:26:00`. */
export function withoutTrailingZeros(time: string): string {
  if (!time.includes('.')) return time;
  const cut = cutTrailingZeros(time);
  return cut.endsWith('.') ? cut.slice(0, -1) : cut;
}

/**
 * The rejection of a text that is not a usable date or instant; the reason says what is wrong without quoting the text.
 */
export function unreadableDate(text: string): Rejection {
  if (/^[+-]?infinity$/i.test(text)) return new Rejection('finite date', 'infinity is not a point in time', text);
  if (/ BC$/.test(text) || /^[+-]?\d{5,}-/.test(text) || text.startsWith('0000-'))
    return new Rejection('years 0001 to 9999', 'RFC 3339 has no dates BC and none after the year 9999', text);
  return new Rejection('readable date', 'not a date or time as the database writes it', text);
}
