/**
 * The transform `instant`: points in time in columns that are not made for them, such as all of SQLite's: texts that
 * name their zone, and counts since 1970.
 */
import { Temporal } from 'temporal-polyfill';
import { instantFromDatabase, utcText } from '../encode/date-from-database.js';
import { rejected, textOption, type Transform } from './transform.js';

const COUNT = /^(-?)(\d{1,15})(?:\.(\d{1,9}))?$/;
/** Digits of a nanosecond, counted in each unit. */
const DIGITS = { seconds: 9, milliseconds: 6 } as const;

/**
 * Takes texts, and numbers of seconds or milliseconds; gives RFC 3339 in UTC. Rejects what is neither, the empty text
 * included, a text without a zone (for `dateTime`), and years outside 0001 to 9999. Exact to the nanosecond. SQL NULL
 * stays null.
 */
export const instant: Transform = {
  name: 'instant',
  description: 'Reads a point in time: a text that names its zone (Z, +02:00), or seconds or milliseconds since 1970.',
  options: {
    properties: {
      from: {
        enum: ['text', 'seconds', 'milliseconds'],
        default: 'text',
        description: 'What the column holds; numbers count from 1970-01-01 in UTC.',
      },
    },
  },
  takes: ['text', 'timestamp', 'integer', 'decimal', 'float'],
  gives: 'dateTime',
  make: (options) => {
    const from = textOption(options, 'from', 'text');
    if (from !== 'seconds' && from !== 'milliseconds') return fromText;
    const digits = DIGITS[from];
    return (value) => {
      const [, sign, whole, fraction = ''] = COUNT.exec(value) ?? [];
      if (whole === undefined || fraction.length > digits) return rejected('instant', `not a number of ${from}`, value);
      return fromNanoseconds(BigInt(`${sign}${whole}${fraction.padEnd(digits, '0')}`), value);
    };
  },
  examples: [
    { in: '2010-07-01T08:26:00.120Z', out: '2010-07-01T08:26:00.12Z' },
    { in: '2010-07-01 08:26:00+02:00', out: '2010-07-01T06:26:00Z' },
    { in: '2010-07-01 08:26:00', rejected: 'names no zone' },
    { in: 'soon', rejected: 'not a date or time' },
    { options: { from: 'seconds' }, in: '1577872800', out: '2020-01-01T10:00:00Z' },
    { options: { from: 'seconds' }, in: '-0.5', out: '1969-12-31T23:59:59.5Z' },
    { options: { from: 'milliseconds' }, in: '1577872800123', out: '2020-01-01T10:00:00.123Z' },
    { options: { from: 'milliseconds' }, in: '999999999999999', rejected: 'outside the years' },
    { options: { from: 'seconds' }, in: '2010-07-01', rejected: 'not a number of seconds' },
  ],
};

/** A local time, without a zone. */
const LOCAL = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/;

function fromText(value: string) {
  if (LOCAL.test(value)) return rejected('instant', 'names no zone; dateTime reads local times', value);
  const read = instantFromDatabase(value);
  return typeof read === 'string' ? read : rejected('instant', read.reason, value);
}

function fromNanoseconds(count: bigint, value: string) {
  try {
    const text = utcText(Temporal.Instant.fromEpochNanoseconds(count));
    if (text !== undefined) return text;
  } catch {
    // Further from 1970 than an instant can be.
  }
  return rejected('instant', 'outside the years 0001 to 9999', value);
}
