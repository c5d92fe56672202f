/** Reads when something was: `in the last 30 days`, `since March`, `in December 2010`, `more than 90 days ago`, `today`. */
import { addDays, dayOf, daysIn, type Days, type Unit } from './calendar.js';
import { CALENDAR_DAYS, MONTHS, UNIT_WORDS, type Phrases } from './lexicon.js';
import { readNumber, type Tested } from './numbers.js';
import type { Operator } from './operators.js';
import type { Reader } from './reader.js';

type Way = 'last' | 'next' | 'this';

const INTO: Phrases<true> = ['in', 'within', 'during', 'over', 'for', 'on'].map((word) => [word, true]);
const THE: Phrases<true> = [['the', true]];
const WAYS: Phrases<Way> = [
  ['last', 'last'],
  ['past', 'last'],
  ['previous', 'last'],
  ['next', 'next'],
  ['coming', 'next'],
  ['this', 'this'],
  ['current', 'this'],
];
const AGO: Phrases<Operator> = [
  ['more than', 'longer_ago_than'],
  ['longer than', 'longer_ago_than'],
  ['over', 'longer_ago_than'],
  ['at least', 'longer_ago_than'],
  ['less than', 'within_last'],
  ['under', 'within_last'],
];
/** What a day means behind each word. */
const BOUNDS: Phrases<(days: Days) => Tested> = [
  ['since', ({ first }) => ({ operator: 'since', value: [first] })],
  ['from', ({ first }) => ({ operator: 'since', value: [first] })],
  ['after', ({ last }) => ({ operator: 'since', value: [addDays(last, 1)] })],
  ['before', ({ first }) => ({ operator: 'before', value: [first] })],
  ['until', ({ last }) => ({ operator: 'before', value: [addDays(last, 1)] })],
  ['up to', ({ last }) => ({ operator: 'before', value: [addDays(last, 1)] })],
];

export function readPeriod(reader: Reader, now: Date): Tested | undefined {
  return (
    reader.attempt(() => readAgo(reader)) ??
    reader.attempt(() => readBetween(reader, now)) ??
    reader.attempt(() => readBound(reader, now)) ??
    reader.attempt(() => readRelative(reader)) ??
    reader.attempt(() => {
      reader.take(INTO);
      const days = readDays(reader, now);
      return days && { operator: 'between_days', value: [days.first, days.last] };
    })
  );
}

function readAgo(reader: Reader): Tested | undefined {
  const operator = reader.take(AGO);
  const span = readSpan(reader);
  if (operator === undefined || span === undefined || reader.take([['ago', true]]) === undefined) return undefined;
  return { operator, value: span };
}

function readBetween(reader: Reader, now: Date): Tested | undefined {
  const words = reader.take<Phrases<true>>([
    ['between', [['and', true]]],
    ['from', ['to', 'until', 'through'].map((word) => [word, true] as const)],
  ]);
  const first = words && readDays(reader, now);
  if (words === undefined || first === undefined || reader.take(words) === undefined) return undefined;
  const last = readDays(reader, now);
  return last && { operator: 'between_days', value: [first.first, last.last] };
}

function readBound(reader: Reader, now: Date): Tested | undefined {
  const bound = reader.take(BOUNDS);
  const days = bound && readDays(reader, now);
  return days && bound(days);
}

function readRelative(reader: Reader): Tested | undefined {
  reader.take(INTO);
  const day = reader.take(CALENDAR_DAYS);
  if (day !== undefined) return { operator: day.operator, value: ['day'] };
  const rolling = reader.take(THE) !== undefined || reader.is([['past', true]]);
  const way = reader.take(WAYS);
  if (way === undefined) return undefined;
  const span = way === 'this' ? undefined : readSpan(reader);
  if (span !== undefined) return { operator: way === 'last' ? 'within_last' : 'within_next', value: span };
  const unit = reader.take(UNIT_WORDS);
  if (unit === undefined) return undefined;
  if (way === 'this') return { operator: 'in_this', value: [unit] };
  // "The last month" is the past thirty days or so; "last month" is the one before this in the calendar.
  if (rolling) return { operator: way === 'last' ? 'within_last' : 'within_next', value: ['1', unit] };
  return { operator: way === 'last' ? 'in_last' : 'in_next', value: [unit] };
}

function readSpan(reader: Reader): [string, Unit] | undefined {
  return reader.attempt(() => {
    const one = reader.take<string>([
      ['a', '1'],
      ['an', '1'],
    ]);
    const count = one ?? readNumber(reader);
    const unit = count !== undefined && /^[1-9]\d{0,5}$/.test(count) ? reader.take(UNIT_WORDS) : undefined;
    return unit && [count!, unit];
  });
}

/** A year, a month or a day. Without a year: the last one that has begun. */
function readDays(reader: Reader, now: Date): Days | undefined {
  return reader.attempt(() => {
    reader.take(THE);
    const token = reader.peek();
    if (token?.kind === 'day') {
      reader.at += 1;
      const [year, month, day] = token.text.split('-').map(Number);
      return daysIn(year!, month, day);
    }
    const today = dayOf(now);
    if (reader.take([['today', true]])) return { first: today, last: today };
    if (reader.take([['yesterday', true]])) return { first: addDays(today, -1), last: addDays(today, -1) };
    const before = readWhole(reader, 1, 31);
    if (before !== undefined) reader.take([['of', true]]);
    const month = reader.take(MONTHS);
    if (month === undefined) {
      if (before !== undefined) return undefined;
      const year = readWhole(reader, 1000, 2999);
      return year === undefined ? undefined : daysIn(year);
    }
    const day = before ?? readWhole(reader, 1, 31);
    const year = reader.attempt(() => {
      reader.take([[',', true]]);
      return readWhole(reader, 1000, 2999);
    });
    if (year !== undefined) return daysIn(year, month, day);
    const thisYear = now.getUTCFullYear();
    const days = daysIn(thisYear, month, day);
    return days !== undefined && days.first <= today ? days : daysIn(thisYear - 1, month, day);
  });
}

function readWhole(reader: Reader, least: number, most: number): number | undefined {
  const token = reader.peek();
  const number = token?.kind === 'number' ? Number(token.text) : NaN;
  if (!Number.isInteger(number) || number < least || number > most) return undefined;
  reader.at += 1;
  return number;
}
