/** Stamps without a zone: the fence and the overlap in the terms of a column that holds local times of one zone. */
import { Temporal } from 'temporal-polyfill';

const LOCAL = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?/;
/** No clock is set back by more; a fold that lies further ahead cannot bring back a time before now. */
const LONGEST_FOLD = { hours: 25 };

/**
 * The earliest local time that a clock in `zone` may still show from `instant` on: the local time itself, or,
 * shortly before the clocks are set back, the time that they will be set back to.
 */
export function earliestLocalTime(instant: Temporal.Instant, zone: string): Temporal.PlainDateTime {
  let at = instant.toZonedDateTimeISO(zone);
  const last = instant.add(LONGEST_FOLD);
  let earliest = at.toPlainDateTime();
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || Temporal.Instant.compare(next.toInstant(), last) > 0) return earliest;
    const local = next.toPlainDateTime();
    if (Temporal.PlainDateTime.compare(local, earliest) < 0) earliest = local;
    at = next;
  }
}

/**
 * A stamp's text moved back by `seconds`, in its own format; in local time of `zone` if one is given, so that
 * clock changes do not shorten the way. What is no stamp (infinity, a zero date) stays as it is.
 */
export function stampMinus(text: string, seconds: number, zone: string | null): string {
  const head = LOCAL.exec(text)?.[0];
  if (head === undefined) return text;
  let local: Temporal.PlainDateTime;
  try {
    local = Temporal.PlainDateTime.from(head.replace(' ', 'T'));
  } catch {
    return text;
  }
  let back = local.subtract({ seconds });
  if (zone !== null) {
    const real = local.toZonedDateTime(zone, { disambiguation: 'earlier' }).subtract({ seconds }).toPlainDateTime();
    if (Temporal.PlainDateTime.compare(real, back) < 0) back = real;
  }
  return stampText(back, head) + text.slice(head.length);
}

/** `stamp` in the format of `like`: a date or a date and time, blank or T, its digits of a second; never rounded up. */
export function stampText(stamp: Temporal.PlainDateTime, like: string): string {
  const day = stamp.toPlainDate().toString();
  if (!/\d[ T]\d/.test(like)) return day;
  const digits = /\.(\d+)/.exec(like)?.[1]!.length ?? 0;
  const fraction = stamp.toPlainTime().toString({ fractionalSecondDigits: 9 });
  return `${day}${like.includes('T') ? 'T' : ' '}${fraction.slice(0, digits === 0 ? 8 : 9 + digits)}`;
}
