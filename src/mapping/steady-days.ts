/** Days on which a zone's clock is left alone: on those, local time is UTC plus one offset, for every row of the day. */
import { Temporal } from 'temporal-polyfill';

export interface SteadyDay {
  /** Minutes that local time is ahead of UTC. */
  readonly ahead: number;
  readonly dayBefore: string;
  readonly dayAfter: string;
}

/** Keeps memory flat while a backfill walks through the years; a row costs one look-up. */
const REMEMBERED_DAYS = 10_000;
/** No zone is further from UTC than this, so all of a local day lies within it. */
const FURTHEST_HOURS = 26;

/**
 * What holds for a day (`2010-12-01`) of `zone`; null where the clock is changed near it, where the offset is not in
 * whole minutes (before railway time), at the ends of the calendar, and where there is no such day.
 */
export function steadyDays(zone: string): (date: string) => SteadyDay | null {
  const known = new Map<string, SteadyDay | null>();
  return (date) => {
    let day = known.get(date);
    if (day === undefined) {
      if (known.size >= REMEMBERED_DAYS) known.clear();
      known.set(date, (day = steadyDay(date, zone)));
    }
    return day;
  };
}

function steadyDay(date: string, zone: string): SteadyDay | null {
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
    ahead: minutes,
    dayBefore: day.subtract({ days: 1 }).toString(),
    dayAfter: day.add({ days: 1 }).toString(),
  };
}
