/** How far a run has come with a mapping, while it works. */
import { formatSeconds } from '../values/duration.js';
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
 * What the run is doing with the mapping: `reading, 43 %, about 2m 5s left`. The share and the time are left out where
 * nobody knows how many rows there are; statistics may be wrong, so 99 % is the most before the end.
 */
export function stateOf(progress: MappingProgress, done: string): string {
  if (progress.done) return done;
  const { expected, read } = progress;
  if (expected === null || expected <= 0) return 'reading';
  const share = `reading, ${Math.min(99, Math.floor((100 * read) / expected))} %`;
  const rate = rateOf(progress);
  return rate === undefined || read >= expected
    ? share
    : `${share}, about ${formatSeconds((expected - read) / rate)} left`;
}
