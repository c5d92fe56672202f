/** Parsers of option values: what is wrong is said at once, with what is allowed. */
import { InvalidArgumentError } from 'commander';
import { DURATION_PATTERN, durationProblem, durationSeconds } from '../domain/duration.js';
import { nearest } from '../domain/names.js';
import { LARGEST_SAMPLE } from '../domain/run.js';

export const choice =
  <T extends string>(allowed: readonly T[]) =>
  (value: string): T => {
    const found = allowed.find((a) => a === value);
    if (found !== undefined) return found;
    const near = nearest(value, allowed);
    throw new InvalidArgumentError(
      `Allowed: ${allowed.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    );
  };

export const port = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('Allowed: 0 to 65535; 0 takes a free port.');
  return number;
};

/** `all`, or how many, from `least` on. */
const allOrFrom =
  (least: number) =>
  (value: string): 'all' | number => {
    if (value === 'all') return 'all';
    const count = Number(value);
    if (!Number.isSafeInteger(count) || count < least)
      throw new InvalidArgumentError(`Allowed: all, or a number from ${least} on.`);
    return count;
  };
export const allOrCount = allOrFrom(1);
export const allOrNone = allOrFrom(0);

/** How much to read back: `all`, `500`, or `sample 500`, which comes as two words. */
export const readBackAmount = (word: string, before: 'all' | 'sample' | number | undefined) => {
  if (before === undefined && word === 'sample') return 'sample' as const;
  if (before === undefined || (before === 'sample' && word !== 'all')) return allOrCount(word);
  throw new InvalidArgumentError('Allowed: all, or a number from 1 on; the name of the sync stands first.');
};

export const count = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Allowed: a whole number from 1 on.');
  return number;
};

export const sampleSize = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > LARGEST_SAMPLE)
    throw new InvalidArgumentError(`Allowed: a whole number from 1 to ${LARGEST_SAMPLE}.`);
  return number;
};

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');

/** A time, or how long ago (`2h`), as ISO 8601. */
export const since = (value: string): string => {
  const ms = new RegExp(DURATION_PATTERN).test(value)
    ? Date.now() - durationSeconds(value) * 1000
    : /^\d{4}-/.test(value)
      ? Date.parse(value)
      : NaN;
  // There is no year 0 for databases, and no time at all before the reach of a Date.
  if (!(ms >= EARLIEST))
    throw new InvalidArgumentError('Allowed: a time such as 2026-01-31T08:00:00Z, or how long ago: 30m, 2h, 7d.');
  return new Date(ms).toISOString();
};

const durationOf = (value: string, least: string, longest: string): string => {
  if (durationProblem(value, least, longest) !== undefined)
    throw new InvalidArgumentError(`Allowed: such as 90s, 10m or 1h, from ${least} to ${longest}.`);
  return value;
};

/** How long a token is good. */
export const tokenLife = (value: string): string => durationOf(value, '1s', '3650d');

/** Milliseconds of how long a command waits, such as `90s`. */
export const duration = (value: string): number => durationSeconds(durationOf(value, '0s', '7d')) * 1000;
