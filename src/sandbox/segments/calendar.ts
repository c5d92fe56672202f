/** Days, units of time and their arithmetic, all in UTC. */

const DAYS_OF = { hour: 1 / 24, day: 1, week: 7, month: 31, quarter: 92, year: 366 } as const;

export type Unit = keyof typeof DAYS_OF;
export const UNITS = Object.keys(DAYS_OF) as Unit[];

export const isUnit = (text: string): text is Unit => Object.hasOwn(DAYS_OF, text);

/** Days of a unit, at most. */
export const daysOf = (unit: Unit): number => DAYS_OF[unit];

/** `YYYY-MM-DD` of a day that the calendar has. */
export function isDay(text: string): boolean {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.valueOf()) && dayOf(date) === text;
}

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000));
}

/** A span of whole days; both ends belong to it. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

export const MONTH_NAMES = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
] as const;

const two = (n: number): string => String(n).padStart(2, '0');

/** The days of a year, a month (1..12) of it, or one day. Undefined when there is no such day. */
export function daysIn(year: number, month?: number, day?: number): Days | undefined {
  const y = String(year);
  if (month === undefined) return isDay(`${y}-01-01`) ? { first: `${y}-01-01`, last: `${y}-12-31` } : undefined;
  if (day !== undefined) {
    const one = `${y}-${two(month)}-${two(day)}`;
    return isDay(one) ? { first: one, last: one } : undefined;
  }
  const first = `${y}-${two(month)}-01`;
  if (!isDay(first)) return undefined;
  return { first, last: dayOf(new Date(Date.UTC(year, month, 0))) };
}
