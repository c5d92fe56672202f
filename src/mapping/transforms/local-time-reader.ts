/**
 * Converts local times of a zone to UTC. The arithmetic of time zones is slow, so its results are kept by day, or
 * otherwise by minute.
 */
import { Temporal } from 'temporal-polyfill';
import { unreadableDate, utcText, withoutTrailingZeros } from '../encode/date-from-database.js';
import { constantOffsetDays, type ConstantOffsetDay } from './constant-offset-days.js';

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::([0-5]\d(?:\.\d{1,9})?))?)?$/;
/** Minutes kept per zone, for days with a clock change; bounded, so that memory does not grow. */
const REMEMBERED_MINUTES = 10_000;
const MINUTES_A_DAY = 24 * 60;

/** Why a local time has no instant, in words that do not quote it. */
export interface LocalTimeProblem {
  readonly problem: string;
}

/**
 * A function that reads `2010-12-01 08:26:00.123456` (or a bare date: its midnight) as local time of `zone`, and
 * returns RFC 3339 in UTC. `lenient`: in a gap, the time is shifted forward; of a repeated time, the first is taken.
 */
export function localTimeReader(zone: string, lenient: boolean): (text: string) => string | LocalTimeProblem {
  const steady = constantOffsetDays(zone);
  /** Local minute to UTC minute; null if seconds matter (old zones changed within a minute) or the time is rejected. */
  const minutes = new Map<string, string | null>();
  return (text) => {
    const [, date, hourMinute = '00:00', second = '00'] = LOCAL.exec(text) ?? [];
    if (date === undefined || date.startsWith('0000')) return { problem: unreadableDate(text).reason };
    const day = steady(date);
    const easy = day === null ? undefined : onSteadyDay(date, hourMinute, day);
    if (easy !== undefined) return `${easy}:${withoutTrailingZeros(second)}Z`;
    const minute = `${date}T${hourMinute}`;
    let utc = minutes.get(minute);
    if (utc === undefined) {
      utc = utcMinute(minute, zone, lenient);
      if (minutes.size >= REMEMBERED_MINUTES) minutes.clear();
      minutes.set(minute, utc);
    }
    if (utc !== null) return `${utc}:${withoutTrailingZeros(second)}Z`;
    const exact = exactInstant(`${minute}:${second}`, zone, lenient);
    return typeof exact === 'object' && 'problem' in exact
      ? exact
      : (utcText(exact) ?? { problem: 'outside the years 0001 to 9999' });
  };
}

/** The minute in UTC; undefined for a time of day that does not exist. */
function onSteadyDay(date: string, hourMinute: string, day: ConstantOffsetDay): string | undefined {
  const hour = Number(hourMinute.slice(0, 2));
  const minute = Number(hourMinute.slice(3));
  if (hour > 23 || minute > 59) return undefined;
  if (day.utcOffset === 0) return `${date}T${hourMinute}`;
  const utc = hour * 60 + minute - day.utcOffset;
  if (utc < 0) return `${day.dayBefore}T${timeOfDay(utc + MINUTES_A_DAY)}`;
  return utc < MINUTES_A_DAY ? `${date}T${timeOfDay(utc)}` : `${day.dayAfter}T${timeOfDay(utc - MINUTES_A_DAY)}`;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const timeOfDay = (minutes: number): string => `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}`;

/** The UTC minute that corresponds to a whole local minute; null if the two do not coincide or there is a problem. */
function utcMinute(minute: string, zone: string, lenient: boolean): string | null {
  const first = exactInstant(`${minute}:00`, zone, lenient);
  const last = exactInstant(`${minute}:59`, zone, lenient);
  if ('problem' in first || 'problem' in last) return null;
  const wholeMinute = first.epochMilliseconds % 60_000 === 0;
  if (!wholeMinute || last.epochMilliseconds - first.epochMilliseconds !== 59_000) return null;
  return utcText(first)?.slice(0, 16) ?? null;
}

/** The instant of a local time, by the rules of {@link localTimeReader}. */
function exactInstant(local: string, zone: string, lenient: boolean): Temporal.Instant | LocalTimeProblem {
  let plain: Temporal.PlainDateTime;
  try {
    plain = Temporal.PlainDateTime.from(local);
  } catch {
    return { problem: 'no such day or time' };
  }
  const earlier = plain.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const later = plain.toZonedDateTime(zone, { disambiguation: 'later' });
  if (earlier.epochNanoseconds === later.epochNanoseconds) return earlier.toInstant();
  const repeated = earlier.toPlainDateTime().equals(plain);
  if (lenient) return (repeated ? earlier : later).toInstant();
  return { problem: `a local time that is ${repeated ? 'repeated' : 'skipped'} by a clock change` };
}
