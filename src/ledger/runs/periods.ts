/** How long the periods are that a run is divided into. */

/** A length of periods, in seconds, for a run that has lasted less than `until`; null: for any longer one. */
export interface PeriodLength {
  readonly seconds: number;
  readonly until: number | null;
}

/** Each length is a multiple of the one before, so that no period overlaps another one in part. */
export const PERIODS: readonly PeriodLength[] = [
  { seconds: 1, until: 60 },
  { seconds: 10, until: 600 },
  { seconds: 60, until: 3 * 3600 },
  { seconds: 300, until: null },
];

/** Lengths in which longer runs are shown. */
const LONGER = [900, 3600, 14_400, 86_400];
/** Most periods that are shown of a run. */
const MOST_SHOWN = 200;

/** The length of the periods in which a run is shown that has lasted so many seconds: no shorter than it has any. */
export function shownPeriod(lasted: number): number {
  const kept = PERIODS.find(({ until }) => until === null || lasted < until)!.seconds;
  const enough = [kept, ...LONGER].find((seconds) => seconds >= kept && lasted / seconds <= MOST_SHOWN);
  return enough ?? LONGER.at(-1)!;
}

/**
 * The SQL for the beginning of the period of a time. `seconds` is SQL for its length. Periods begin at whole multiples of their
 * length since 1970; PostgreSQL 12 and 13 have no `date_bin`.
 */
export const periodOf = (time: string, seconds: string): string =>
  `to_timestamp(floor(extract(epoch FROM ${time}) / (${seconds})) * (${seconds}))`;
