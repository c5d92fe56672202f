/**
 * Finds the days on which a time zone has one constant offset, so that local times convert by an addition: the
 * arithmetic of time zones is slow.
 */
import { Temporal } from 'temporal-polyfill';

/** A day with a constant offset, and the days around it as `2010-12-01`. */
export interface ConstantOffsetDay {
  /** Minutes by which local time is ahead of UTC. */
  readonly utcOffset: number;
  readonly dayBefore: string;
  readonly dayAfter: string;
}

/** Days kept per zone; bounded, so that a backfill over many years does not use more memory. */
const REMEMBERED_DAYS = 10_000;
/** No zone is further from UTC than this, so all of a local day lies within it. */
const FURTHEST_HOURS = 26;

/**
 * A function from a day (`2010-12-01`) to its offset in `zone`; null near a clock change, if the offset is not in whole
 * minutes (before railway time), in the years 1 and 9999, and for days that do not exist.
 */
export function constantOffsetDays(zone: string): (date: string) => ConstantOffsetDay | null {
  const known = new Map<string, ConstantOffsetDay | null>();
  return (date) => {
    let day = known.get(date);
    if (day === undefined) {
      if (known.size >= REMEMBERED_DAYS) known.clear();
      day = steadyDay(date, zone);
      known.set(date, day);
    }
    return day;
  };
}

function steadyDay(date: string, zone: string): ConstantOffsetDay | null {
  let day: Temporal.PlainDate;
  try {
    day = Temporal.PlainDate.from(date);
  } catch {
    return null;
  }
  if (day.year <= 1 || day.year >= 9999) return null;
  const from = day.toZonedDateTime('UTC').subtract({ hours: FURTHEST_HOURS }).withTimeZone(zone);
  const through = day.toZonedDateTime('UTC').add({ hours: 24 + FURTHEST_HOURS });
  const change = from.getTimeZoneTransition('next');
  if (change !== null && change.epochMilliseconds <= through.epochMilliseconds) return null;
  const minutes = from.offsetNanoseconds / 60e9;
  if (!Number.isInteger(minutes)) return null;
  return {
    utcOffset: minutes,
    dayBefore: day.subtract({ days: 1 }).toString(),
    dayAfter: day.add({ days: 1 }).toString(),
  };
}
