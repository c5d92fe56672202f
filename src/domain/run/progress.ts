/** How far a run has come with a mapping, while it works. */
import { formatSeconds } from '../values/duration.js';
import { formatCount, quantity } from '../values/quantity.js';
import type { Counts } from './run.js';

/** One mapping during a run. */
export interface MappingProgress extends Counts {
  readonly mapping: string;
  /** Records in flight: sent in batches that are not settled yet. */
  readonly inFlight: number;
  readonly seconds: number;
  readonly done: boolean;
  /** About how many rows the run will have read, as far as the source's statistics say; null where they do not. */
  readonly expected: number | null;
}

/** Rows per second, never 0 if rows were read; undefined for a time too short to measure. */
export function rateOf({ read, seconds }: MappingProgress): number | undefined {
  if (read === 0 || seconds <= 0.5) return undefined;
  const rate = read / seconds;
  return rate >= 1 ? Math.round(rate) : Math.max(0.1, Math.round(rate * 10) / 10);
}

/**
 * How many percent of the rows are read, a whole number from 0 to 100; undefined where nobody knows how many there are.
 * Statistics may be wrong, so 99 is the most before the end, and 100 is always the end.
 */
export function percentOf({ done, expected, read }: MappingProgress): number | undefined {
  if (done) return 100;
  return expected === null || expected <= 0 ? undefined : Math.min(99, Math.floor((100 * read) / expected));
}

/**
 * How many rows there are: those that were read once the mapping is done, before that an estimate. Undefined where
 * there is none, and where more rows have been read than it says.
 */
export function totalOf({ done, expected, read }: MappingProgress): number | undefined {
  if (done) return read;
  return expected === null || expected <= 0 || read > expected ? undefined : expected;
}

/** Seconds until all rows are read if it goes on like this; undefined where nobody can tell, and at the end. */
export function secondsLeft(progress: MappingProgress): number | undefined {
  const [total, rate] = [totalOf(progress), rateOf(progress)];
  if (progress.done || total === undefined || rate === undefined || total === progress.read) return undefined;
  return (total - progress.read) / rate;
}

/**
 * What the run is doing with the mapping: `reading, 43 % of about 12,000 rows, about 2m 5s left`. What nobody knows is
 * left out.
 *
 * @param done what to say once the mapping is done
 */
export function stateOf(progress: MappingProgress, done: string): string {
  if (progress.done) return done;
  const [percent, total, left] = [percentOf(progress), totalOf(progress), secondsLeft(progress)];
  const share =
    percent === undefined ? [] : [`${percent} %${total === undefined ? '' : ` of about ${quantity(total, 'row')}`}`];
  return ['reading', ...share, ...(left === undefined ? [] : [`about ${formatSeconds(left)} left`])].join(', ');
}

/** `1,200 in flight`, `80 rows/s` and so on: what there is none of is left out. What needs a person comes first. */
export function countsOf(progress: MappingProgress): string[] {
  const { read, accepted, unchanged, waiting, deadLettered, inFlight } = progress;
  const counts = [
    [read, 'read'],
    [deadLettered, 'dead-lettered'],
    [waiting, 'waiting'],
    [inFlight, 'in flight'],
    [accepted, 'accepted'],
    [unchanged, 'unchanged'],
    [rateOf(progress) ?? 0, 'rows/s'],
  ] as const;
  return counts.flatMap(([count, what]) => (count === 0 ? [] : [`${formatCount(count)} ${what}`]));
}

/** All of it in one line: `reading, 43 % of about 12,000 rows, about 2m 5s left; 5,200 read, 1,200 in flight, 80 rows/s`. */
export const progressLine = (progress: MappingProgress, done: string): string =>
  [stateOf(progress, done), ...(progress.read === 0 ? [] : [countsOf(progress).join(', ')])].join('; ');
