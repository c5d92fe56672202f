/**
 * Checks cron expressions in the dialect of Temporal, which runs the schedules (`parseCronString` of its scheduler).
 * Temporal would reject a wrong one only when the schedule is applied. Two forms that Temporal accepts are rejected
 * here, as other keys of a schedule are for them: `@every 1h` (`every`) and `TZ=Europe/London` (`timezone`).
 */

/** One field of an expression, with the numbers that it allows. */
export interface CronField {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the numbers from `from` on, which may be abbreviated to no fewer than `shortest` letters. */
  readonly words?: readonly string[];
  readonly shortest?: number;
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

const SECOND: CronField = { name: 'second', from: 0, to: 59 };
const FIVE: readonly CronField[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, words: MONTHS, shortest: 3 },
  { name: 'day of week', from: 0, to: 7, words: DAYS, shortest: 2 },
];
const YEAR: CronField = { name: 'year', from: 2000, to: 2100 };

/** The fields of an expression, by how many it has. */
const FIELDS: Readonly<Record<number, readonly CronField[]>> = {
  5: FIVE,
  6: [...FIVE, YEAR],
  7: [SECOND, ...FIVE, YEAR],
};

/** The fields of an expression of these parts; undefined if it has no such number of them. */
export const cronFields = (parts: readonly string[]): readonly CronField[] | undefined => FIELDS[parts.length];

/** Short forms, and what they stand for. */
export const CRON_NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** What is wrong with the expression; undefined if it is valid. */
export function cronProblem(expression: string): string | undefined {
  if (/^\s*(CRON_)?TZ=/.test(expression)) return 'must not name a time zone; that is the key timezone';
  // Temporal keeps the text after a # as a comment.
  const text = expression.split('#', 1)[0]!.trim();
  if (Object.hasOwn(CRON_NICKNAMES, text)) return undefined;
  if (text.startsWith('@every')) return 'must not name an interval; that is the key every';
  const parts = text.split(/\s+/);
  const fields = cronFields(parts);
  if (fields === undefined)
    return `needs five fields (${FIVE.map((field) => field.name).join(', ')}), six with a year after them, or seven with a second before them as well; got ${parts.length}`;
  for (const [index, field] of fields.entries())
    for (const item of parts[index]!.split(',')) {
      const problem = itemProblem(item, field);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

/** One item of a list: `*`, `5`, `1-5`, each with an optional step such as `/15`. */
function itemProblem(item: string, field: CronField): string | undefined {
  const { name, from, to } = field;
  const [range = '', step, more] = item.split('/');
  if (more !== undefined || (step !== undefined && !(integer(step) >= 1)))
    return `${name} has a step that is not a positive number`;
  if (range === '*') return undefined;
  const bounds = range.split('-').map((bound) => valueOf(bound, field));
  if (bounds.length > 2 || bounds.some(Number.isNaN)) return `${name} is not a number, a range or *`;
  const outside = bounds.find((bound) => bound < from || bound > to);
  if (outside !== undefined) return `${name} is ${outside}, allowed ${from}-${to}`;
  return bounds.length === 2 && bounds[0]! > bounds[1]! ? `${name} has a range that runs backwards` : undefined;
}

/** The number of a bound, or of the name that stands for it; NaN for neither. */
export function valueOf(text: string, { from, words = [], shortest = Infinity }: CronField): number {
  const word = text.length < shortest ? -1 : words.findIndex((known) => known.startsWith(text.toLowerCase()));
  return word >= 0 ? word + from : integer(text);
}

/** As Go reads one, since Temporal is written in Go: 64 bits, with or without a sign; NaN for everything else. */
export function integer(text: string): number {
  const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  return value === undefined || BigInt.asIntN(64, value) !== value ? NaN : Number(value);
}
