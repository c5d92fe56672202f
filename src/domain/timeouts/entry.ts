/** One row of the table of timeouts and retries. */

/** Units of time, in milliseconds. */
export const UNITS = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

interface Entry {
  readonly value: number;
  /** What is bounded, as a noun phrase. */
  readonly bounds: string;
  /** Why it has this value. */
  readonly why: string;
  /** What a partner sets to change it; `value` is its default. */
  readonly setting?: string;
}

/** A length of time. */
export interface DurationEntry extends Entry {
  readonly unit: keyof typeof UNITS;
}

/** A number of attempts, or a factor. */
export interface CountEntry extends Entry {
  readonly unit: 'attempts' | 'times';
}

export type TimeoutEntry = DurationEntry | CountEntry;
