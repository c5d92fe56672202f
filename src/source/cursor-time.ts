/** Arithmetic on timestamps without a zone, for cursor columns that hold the local time of one zone. */
import { Temporal } from 'temporal-polyfill';

const LOCAL = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?/;
/** No clock is set back by more than this, so a change further ahead cannot bring back a time before now. */
const LONGEST_FOLD = { hours: 25 };

/**
 * The earliest local time that a clock in `zone` may still show from `instant` on: the local time itself, or,
 * shortly before the clocks are set back, the time that they will be set back to.
 */
export function earliestLocalTime(instant: Temporal.Instant, zone: string): Temporal.PlainDateTime {
  let at = instant.toZonedDateTimeISO(zone);
  const last = instant.add(LONGEST_FOLD);
  let earliest = at.toPlainDateTime();
  while (true) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || Temporal.Instant.compare(next.toInstant(), last) > 0) return earliest;
    const local = next.toPlainDateTime();
    if (Temporal.PlainDateTime.compare(local, earliest) < 0) earliest = local;
    at = next;
  }
}

/** The zone in which a day begins last: until then, rows written somewhere still carry the day before. */
export const WESTERNMOST = '-12:00';

/**
 * The moment that a value of a cursor stands for: the beginning of a date, or a local time of `zone` unless anything follows
 * the time, which is UTC then. null if it is neither date nor time.
 */
export function momentOf(cursor: string, zone: string | undefined): Date | null {
  const [, day, time, utc] = /^(\d{4}-\d\d-\d\d)(?:[ T]([\d:.]+)(.*))?$/.exec(cursor) ?? [];
  if (day === undefined) return null;
  const local = localTime(`${day}T${time ?? '00:00'}`);
  if (local === null) return null;
  const timeZone = time === undefined ? (zone ?? WESTERNMOST) : utc === '' ? (zone ?? 'UTC') : 'UTC';
  return new Date(local.toZonedDateTime(timeZone, { disambiguation: 'earlier' }).epochMilliseconds);
}

const BOUND = /^(\d{4}-\d\d-\d\d)(?:[ T]([\d:.]+) ?(Z|[+-][\d:]+)?)?$/i;

/**
 * A bound of the cursor as people write it (`cursorBound`), in the format of `like`, one of the cursor's own values. Databases ignore
 * what they do not expect, such as the offset of a time for a column without a zone, and SQLite compares texts. null if the cursor does
 * not contain what the bound is: days, times or counters.
 *
 * @param zone that of the local times that the cursor contains, if it contains such; a bound without an offset is one of them, or in UTC
 * @param edge digits of a second that the format lacks are cut off an inclusive lower bound, and round an exclusive upper one up
 */
export function cursorBoundText(text: string, like: string, zone: string | null, edge: 'from' | 'to'): string | null {
  const format = /^\d{4}-\d\d-\d\d(?:[ T][\d:.]+(.*))?$/.exec(like);
  const bound = BOUND.exec(text);
  if (format === null || bound === null) return format === bound ? text : null;
  const [, day, time = '00:00', offset] = bound;
  const [, suffix] = format;
  if (suffix === undefined) return bound[2] === undefined ? day! : null;
  let local = Temporal.PlainDateTime.from(`${day}T${time}`);
  if (offset !== undefined)
    local = Temporal.Instant.from(`${day}T${time}${offset.toUpperCase()}`)
      .toZonedDateTimeISO(suffix === '' ? (zone ?? 'UTC') : 'UTC')
      .toPlainDateTime();
  const written = timestampText(local, like);
  const isCut = Temporal.PlainDateTime.compare(Temporal.PlainDateTime.from(written.replace(' ', 'T')), local) !== 0;
  if (!isCut || edge === 'from') return written + suffix;
  const digits = /\.(\d+)/.exec(like)?.[1]!.length ?? 0;
  return timestampText(local.add({ nanoseconds: 10 ** (9 - digits) }), like) + suffix;
}

/**
 * Before it, cursors do not tell when rows changed: they contain the least value of a type, or a program's zero time, such as
 * 0001-01-01. Earlier values may be none of the type (SQL Server's smalldatetime begins in this year).
 */
const FIRST_YEAR = 1900;

/**
 * The text of a timestamp, moved back by `seconds`, or ahead if they are negative, in its own format. With a `zone`, at least that
 * many real seconds of its local time: a change of the clocks does not shorten them. What is no timestamp (infinity, a zero date) is
 * returned unchanged. null for what is before {@link FIRST_YEAR}.
 */
export function timestampMinus(text: string, seconds: number, zone: string | null): string | null {
  const head = LOCAL.exec(text)?.[0];
  if (head === undefined) return text;
  const local = localTime(head.replace(' ', 'T'));
  if (local === null) return text;
  let moved = local.subtract({ seconds });
  if (zone !== null) {
    const real = local.toZonedDateTime(zone, { disambiguation: 'earlier' }).subtract({ seconds }).toPlainDateTime();
    if (Temporal.PlainDateTime.compare(real, moved) * seconds < 0) moved = real;
  }
  if (moved.year < FIRST_YEAR) return null;
  return timestampText(moved, head) + text.slice(head.length);
}

/** null if no calendar has it, such as a zero date of MySQL. */
function localTime(text: string): Temporal.PlainDateTime | null {
  try {
    return Temporal.PlainDateTime.from(text);
  } catch {
    return null;
  }
}

/** `time` in the format of `like`: a date, or date and time with a blank or T and as many digits of a second. Never rounded up. */
export function timestampText(time: Temporal.PlainDateTime, like: string): string {
  const day = time.toPlainDate().toString();
  if (!/\d[ T]\d/.test(like)) return day;
  const digits = /\.(\d+)/.exec(like)?.[1]!.length ?? 0;
  const fraction = time.toPlainTime().toString({ fractionalSecondDigits: 9 });
  return `${day}${like.includes('T') ? 'T' : ' '}${fraction.slice(0, digits === 0 ? 8 : 9 + digits)}`;
}
