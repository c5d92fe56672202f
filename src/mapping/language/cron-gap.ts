/**
 * How far apart the times of a cron expression are, as Temporal understands it: a time counts if all fields match, so that
 * a day of the month and a day of the week restrict each other.
 */
import { CRON_NICKNAMES, cronFields, integer, valueOf, type CronField } from './cron-problem.js';

const DAY = 86_400;
/** How many days are looked through: between two 29ths of February there may be eight years. */
const DAYS = 8 * 366;

/**
 * The longest time between two neighbouring times of a valid expression that are still to come, in seconds; null if there
 * are not two. It goes by the clock of the schedule's zone, in which a day may have an hour more or less.
 */
export function longestCronGap(expression: string, now: Date): number | null {
  const values = valuesOf(expression);
  const times = values.hour!.flatMap((h) =>
    values.minute!.flatMap((m) => (values.second ?? [0]).map((s) => (h * 60 + m) * 60 + s)),
  );
  const withinDay = times.reduce((longest, time, i) => Math.max(longest, time - (times[i - 1] ?? time)), 0);
  const overnight = times[0]! - times.at(-1)!;
  const isOn = (date: Date): boolean =>
    values.month!.includes(date.getUTCMonth() + 1) &&
    values['day of month']!.includes(date.getUTCDate()) &&
    values['day of week']!.some((day) => day % 7 === date.getUTCDay()) &&
    (values.year?.includes(date.getUTCFullYear()) ?? true);
  let longest = 0;
  let before: number | null = null;
  const today = Math.floor(now.getTime() / 1000 / DAY);
  for (let day = today; day < today + DAYS; day++) {
    if (!isOn(new Date(day * DAY * 1000))) continue;
    longest = Math.max(longest, withinDay, before === null ? 0 : (day - before) * DAY + overnight);
    before = day;
  }
  return longest === 0 ? null : longest;
}

/** The numbers of each field that the expression has, by its name and in ascending order. */
function valuesOf(expression: string): Readonly<Record<string, readonly number[]>> {
  const text = expression.split('#', 1)[0]!.trim();
  const parts = (CRON_NICKNAMES[text] ?? text).split(/\s+/);
  return Object.fromEntries(
    cronFields(parts)!.map((field, i) => {
      const values = parts[i]!.split(',').flatMap((item) => itemValues(item, field));
      return [field.name, [...new Set(values)].sort((a, b) => a - b)];
    }),
  );
}

/** `5/15` begins with 5 and goes on to the end of the field, as `5` alone does not. */
function itemValues(item: string, field: CronField): number[] {
  const [range = '', step] = item.split('/');
  const [from = 0, to = step === undefined ? from : field.to] =
    range === '*' ? [field.from, field.to] : range.split('-').map((bound) => valueOf(bound, field));
  const by = step === undefined ? 1 : integer(step);
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by);
}
