/**
 * Parses `startDate` and `endDate` of the reports 4.1 and 4.16. Section 4 shows no format; the default is ISO 8601 with
 * both ends inclusive.
 */
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';

/** A half-open interval: `from` is included, `before` is not. null means unbounded on that side. */
export interface DateRange {
  readonly from: Date | null;
  readonly before: Date | null;
}

interface Given {
  readonly startDate?: string | null | undefined;
  readonly endDate?: string | null | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const MILLISECONDS_A_DAY = 86_400_000;

/** `format` is `iso`, or `epoch` for milliseconds since 1970; `end` says whether the end belongs to the range. */
type Rules = SandboxSettings['reportDates'];

/**
 * Converts the two parameters to a half-open interval. A date without a time means the whole day in UTC.
 *
 * An inclusive end covers the named day, or the named millisecond. Throws an `invalid` {@link Refusal} that lists every
 * value that is not a date, and an end before the start.
 */
export function dateRange({ startDate, endDate }: Given, { format, end: lastOne }: Rules): DateRange {
  const problems: string[] = [];
  const from = startOf('startDate', startDate, format, problems);
  const end = startOf('endDate', endDate, format, problems);
  // What an inclusive end adds: the rest of the day that it names, or one millisecond.
  const last = lastOne === 'excluded' ? 0 : DAY.test(endDate ?? '') ? MILLISECONDS_A_DAY : 1;
  const before = end && new Date(end.getTime() + last);
  if (from !== null && before !== null && before <= from)
    problems.push(`query/endDate "${endDate}" is before startDate "${startDate}"`);
  if (problems.length > 0) throw new Refusal('invalid', 'the request is not valid', problems);
  return { from, before };
}

/**
 * The instant at which the given day or moment begins; null if none was given. Appends to `problems` instead of
 * throwing, so that both parameters are reported together.
 */
function startOf(
  name: string,
  text: string | null | undefined,
  format: Rules['format'],
  problems: string[],
): Date | null {
  if (text === null || text === undefined || text === '') return null;
  if (format === 'epoch') {
    if (/^\d{1,15}$/.test(text)) return new Date(Number(text));
    problems.push(`query/${name} must be milliseconds since 1970, such as 1774915200000`);
    return null;
  }
  const date = new Date(text);
  // Date parses 2026-02-30 as the 2nd of March, so the day must survive a round trip.
  const exists =
    !Number.isNaN(date.getTime()) && new Date(`${text.slice(0, 10)}T00:00Z`).toJSON()?.startsWith(text.slice(0, 10));
  if ((DAY.test(text) || MOMENT.test(text)) && exists) return date;
  problems.push(
    `query/${name} must be a date or a time with its zone, such as 2026-03-31 or 2026-03-31T18:00:00Z (a "+" is sent as %2B)`,
  );
  return null;
}
