/**
 * Parsers of option values, for commander's `argParser`. Each returns the parsed value, or throws
 * `InvalidArgumentError`, which commander prints after the option's name and which ends the command with exit code 2
 * before anything is opened. The messages begin with `Allowed:` and never repeat the value.
 */
import { InvalidArgumentError } from 'commander';
import { DURATION_PATTERN, durationProblem, durationSeconds } from '../domain/values/duration.js';
import { nearest } from '../domain/values/names.js';
import { LARGEST_SAMPLE } from '../domain/run/run.js';

/** One of the words in `allowed`, spelled exactly so. The error suggests the nearest word if one is close. */
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

/** A TCP port; 0 lets the operating system choose a free one. */
export const port = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('Allowed: 0 to 65535; 0 takes a free port.');
  return number;
};

/** `all`, or a whole number of at least `least`. */
const allOrFrom =
  (least: number) =>
  (value: string): 'all' | number => {
    if (value === 'all') return 'all';
    const count = Number(value);
    if (!Number.isSafeInteger(count) || count < least)
      throw new InvalidArgumentError(`Allowed: all, or a number of at least ${least}.`);
    return count;
  };
/** `all` or at least 1: for a command that would show nothing at 0. */
export const allOrCount = allOrFrom(1);
/** `all` or at least 0: where 0 turns a part of the command off, such as reading rows in `check`. */
export const allOrNone = allOrFrom(0);

/**
 * How much to read back: `all`, `500`, or `sample 500`.
 *
 * The last form arrives as two calls, since commander calls the parser of a variadic option once for each word, with
 * the result so far as `before`. `sample` alone is returned as such; the command rejects it once all words are read.
 */
export const readBackAmount = (word: string, before: 'all' | 'sample' | number | undefined) => {
  if (before === undefined && word === 'sample') return 'sample' as const;
  if (before === undefined || (before === 'sample' && word !== 'all')) return allOrCount(word);
  // A variadic option also takes the words after it, so a sync's name that follows it ends up here.
  throw new InvalidArgumentError('Allowed: all, or a number of at least 1; put the name of the sync first.');
};

/** A number of things, at least 1. */
export const count = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Allowed: a whole number of at least 1.');
  return number;
};

/**
 * Rows of each mapping in a sample. The workflow's input has the same upper limit ({@link LARGEST_SAMPLE}); checking it
 * here as well gives the error before a run is started.
 */
export const sampleSize = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > LARGEST_SAMPLE)
    throw new InvalidArgumentError(`Allowed: a whole number from 1 to ${LARGEST_SAMPLE}.`);
  return number;
};

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');

/**
 * A time, or how long ago (`2h`), as an ISO 8601 timestamp in UTC. A date alone is midnight UTC; a time without a zone
 * is this machine's local time.
 */
export const since = (value: string): string => {
  const ms = new RegExp(DURATION_PATTERN).test(value)
    ? Date.now() - durationSeconds(value) * 1000
    : /^\d{4}-/.test(value)
      ? Date.parse(value)
      : NaN;
  // Databases have no year 0, and `new Date` would throw a RangeError beyond its own range.
  if (!(ms >= EARLIEST))
    throw new InvalidArgumentError('Allowed: a time such as 2026-01-31T08:00:00Z, or how long ago: 30m, 2h, 7d.');
  return new Date(ms).toISOString();
};

const durationOf = (value: string, least: string, longest: string): string => {
  if (durationProblem(value, least, longest) !== undefined)
    throw new InvalidArgumentError(`Allowed: such as 90s, 10m or 1h, from ${least} to ${longest}.`);
  return value;
};

/** How long a token of the sandbox is valid, as the text that was given; {@link durationOf} has checked it. */
export const tokenLife = (value: string): string => durationOf(value, '1s', '3650d');

/** How long a command waits at most, such as `90s`, in milliseconds. */
export const duration = (value: string): number => durationSeconds(durationOf(value, '0s', '7d')) * 1000;
