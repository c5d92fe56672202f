/** The values of operators: which are valid, how a text writes them, and how SQL compares with them. */

/** The parameters of one statement; do not share an instance between statements. */
export class SqlParameters {
  readonly values: unknown[] = [];

  /** Relative dates refer to `instant`. */
  constructor(private readonly instant: Date) {}

  /** Adds a value and returns its typed placeholder, such as `$3::text[]`. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** A placeholder of the present instant. */
  get now(): string {
    return this.add(this.instant.toISOString(), 'timestamptz');
  }
}

/** The SQL that compares `x`, the value that is tested, with what {@link Slot.sql} makes of the operator's values. */
export type Compare = (x: string, a: string, b: string) => string;

/** A place for values in the phrase of an operator. All places of one phrase are of the same kind. */
interface Slot {
  /** How many values it holds. */
  readonly size: number;
  readonly needs: string;
  readonly fits: (value: readonly string[]) => boolean;
  /** How a text writes the values, where it is not the one value itself. */
  readonly write?: (value: readonly string[]) => string;
  /** Tests the jsonb expression `operand`. The result is never null: data of another type does not match. */
  readonly sql: (operand: string, compare: Compare, value: readonly string[], parameters: SqlParameters) => string;
}

/** Units of time, with the most days that each can have. */
export const UNITS: Record<string, number> = { hour: 1 / 24, day: 1, week: 7, month: 31, quarter: 92, year: 366 };
/** Days; a thousand years. Longer spans leave the range of the database's calendar. */
const LONGEST_SPAN = 365_000;
const isUnit = (text = ''): boolean => Object.hasOwn(UNITS, text);
const isSpan = ([count = '', unit = '']: readonly string[]): boolean =>
  /^[1-9]\d{0,6}$/.test(count) && isUnit(unit) && Number(count) * UNITS[unit]! <= LONGEST_SPAN;

/** Whether the text is `YYYY-MM-DD`, and there is such a day. */
function isDay(text = ''): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** In quotes, except for truth values. */
const quoted = (text: string): string => (text === 'true' || text === 'false' ? text : `"${text}"`);
/** The jsonb expression as text. */
export const textOf = (operand: string): string => `(${operand} #>> '{}')`;

type SqlType = 'numeric' | 'timestamptz';
/** The jsonb expression as an SQL value; null for data of another type. */
export const numberOrTime = (operand: string, type: SqlType): string =>
  `case when jsonb_typeof(${operand}) = '${type === 'numeric' ? 'number' : 'string'}'
         and pg_input_is_valid(${textOf(operand)}, '${type}') then ${textOf(operand)}::${type} end`;

/** Compares numbers or times with what `bind` makes of the operator's values. */
const typed =
  (type: SqlType, bind: (value: readonly string[], parameters: SqlParameters) => string[]): Slot['sql'] =>
  (operand, compare, value, parameters) => {
    const [a = '', b = ''] = bind(value, parameters);
    return `coalesce(${compare(`(${numberOrTime(operand, type)})`, a, b)}, false)`;
  };

/** The interval of so many units. PostgreSQL has none of quarters. */
const interval = ([count = '', unit = '']: readonly string[], parameters: SqlParameters): string =>
  parameters.add(unit === 'quarter' ? `${Number(count) * 3} month` : `${count} ${unit}`, 'interval');

/** By the name that phrases give them in braces, which is also that of their rule in the grammar. */
export const SLOTS: Readonly<Record<string, Slot>> = {
  Texts: {
    size: Infinity,
    needs: 'at least one value',
    fits: (value) => value.length > 0,
    write: (value) => value.map(quoted).join(' or '),
    // Compared without regard to case.
    sql: (operand, compare, value, parameters) => `exists (
      select from unnest(${parameters.add(value, 'text[]')}) as word(it)
       where ${compare(`lower(${textOf(operand)})`, 'lower(word.it)', '')})`,
  },
  Number: {
    size: 1,
    needs: '1 number as text',
    fits: ([text = '']) => /^-?\d{1,30}(\.\d{1,30})?$/.test(text),
    sql: typed('numeric', (value, parameters) => value.map((text) => parameters.add(text, 'numeric'))),
  },
  Day: {
    size: 1,
    needs: '1 day as YYYY-MM-DD',
    fits: ([text]) => isDay(text),
    // The first instants of the days, in UTC.
    sql: typed('timestamptz', (days, parameters) => days.map((day) => parameters.add(`${day}T00:00Z`, 'timestamptz'))),
  },
  // A length of time, and the present instant.
  Span: {
    size: 2,
    needs: 'a count and a unit, such as ["30", "day"], of a thousand years at most',
    fits: isSpan,
    write: ([count = '', unit = '']) => `${count} ${unit}${count === '1' ? '' : 's'}`,
    sql: typed('timestamptz', (value, parameters) => [interval(value, parameters), parameters.now]),
  },
  // The length of a unit of the calendar, and the first instant of the present one in UTC. Weeks begin on Monday.
  Unit: {
    size: 1,
    needs: `one unit: ${Object.keys(UNITS).join(', ')}`,
    fits: ([text]) => isUnit(text),
    sql: typed('timestamptz', ([unit = ''], parameters) => [
      interval(['1', unit], parameters),
      `date_trunc(${parameters.add(unit, 'text')}, ${parameters.now}, 'UTC')`,
    ]),
  },
};
