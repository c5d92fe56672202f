/** Local times of one zone to UTC text. Zone arithmetic is slow, so it is done by the day, and else by the minute. */
import { Temporal } from 'temporal-polyfill';
import { unreadableDate, utcText, withoutTrailingZeros } from './date-text.js';
import { steadyDays } from './steady-days.js';
import type { SteadyDay } from './steady-days.js';

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::([0-5]\d(?:\.\d{1,9})?))?)?$/;
/** Rows share minutes, on the days of clock changes too. Bounded, so that memory stays flat. */
const REMEMBERED_MINUTES = 10_000;
const MINUTES_A_DAY = 24 * 60;

export interface LocalTimeProblem {
  readonly problem: string;
}

/**
 * Reads `2010-12-01 08:26:00.123456` (or a bare date: its midnight) as local time of `zone`.
 * `lenient`: over a gap the time is shifted forward, of a repeated time the first is taken.
 */
export function localTimeReader(zone: string, lenient: boolean): (text: string) => string | LocalTimeProblem {
  const steady = steadyDays(zone);
  /** Local minute to UTC minute; null where seconds matter (old zones changed in mid-minute) or it is refused. */
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

/** The UTC minute; undefined where the time of day is none. */
function onSteadyDay(date: string, hourMinute: string, day: SteadyDay): string | undefined {
  const hour = Number(hourMinute.slice(0, 2));
  const minute = Number(hourMinute.slice(3));
  if (hour > 23 || minute > 59) return undefined;
  if (day.ahead === 0) return `${date}T${hourMinute}`;
  const utc = hour * 60 + minute - day.ahead;
  if (utc < 0) return `${day.dayBefore}T${timeOfDay(utc + MINUTES_A_DAY)}`;
  return utc < MINUTES_A_DAY ? `${date}T${timeOfDay(utc)}` : `${day.dayAfter}T${timeOfDay(utc - MINUTES_A_DAY)}`;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const timeOfDay = (minutes: number): string => `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}`;

function utcMinute(minute: string, zone: string, lenient: boolean): string | null {
  const first = exactInstant(`${minute}:00`, zone, lenient);
  const last = exactInstant(`${minute}:59`, zone, lenient);
  if ('problem' in first || 'problem' in last) return null;
  const wholeMinute = first.epochMilliseconds % 60_000 === 0;
  if (!wholeMinute || last.epochMilliseconds - first.epochMilliseconds !== 59_000) return null;
  return utcText(first)?.slice(0, 16) ?? null;
}

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
