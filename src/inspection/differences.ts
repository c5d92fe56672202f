/** Collects what differs between source and platform: counted in full, and passed on one by one. */
import type { SourceKey } from '../domain/source/source.js';

/**
 * - `stale`: the platform has other content.
 * - `missing`: it does not have the record.
 * - `extra`: it accepted a record that has no row.
 * - `duplicate`: another row is the same record.
 * - `unmappable`: the row cannot become a record.
 */
export const DIFFERENCE_KINDS = ['stale', 'missing', 'extra', 'duplicate', 'unmappable'] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** One record or row on which source and platform do not agree. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly tenant: string | null;
  readonly externalId: string | null;
  /** null for an accepted hash without a row. */
  readonly key: SourceKey | null;
  /** A phrase without values: `field email differs on the platform`. */
  readonly what: string;
}

/** A range of the source's keys that was read together: `after < key <= through`. */
export interface KeyRangeSum {
  readonly after: SourceKey | null;
  readonly through: SourceKey;
  readonly rows: number;
  readonly differences: number;
}

/**
 * Examples of each kind, and key ranges, that are kept for the report at most. Differences may be as many as rows, and
 * only the caller of `tell` may keep them all, in a file.
 */
const EXAMPLES = 5;
const RANGES_SHOWN = 20;

/** The differences of one mapping, while it is compared. */
export interface Differences {
  /** Begins a key range after a key; returns its number. */
  beginKeyRange(after: SourceKey | null): number;
  /** Records that more rows of the key range were read, the last of them with this key. */
  extendKeyRange(keyRange: number, through: SourceKey, rows: number): void;
  readonly ranges: readonly KeyRangeSum[];
  /**
   * Counts a difference and passes it on. `keyRange`: the number of its key range; null for an accepted hash without a
   * row.
   */
  found(difference: Difference, keyRange: number | null): Promise<void>;
  report(): {
    readonly counts: Readonly<Record<DifferenceKind, number>>;
    /** A few of each kind. */
    readonly examples: readonly Difference[];
    readonly ranges: {
      readonly read: number;
      readonly agree: number;
      /** The first of those that do not agree. */
      readonly differing: readonly KeyRangeSum[];
    };
  };
}

/** `tell` receives each difference and is awaited before the next one. */
export function openDifferences(tell: (difference: Difference) => Promise<void> | void): Differences {
  const counts: Record<DifferenceKind, number> = { stale: 0, missing: 0, extra: 0, duplicate: 0, unmappable: 0 };
  const examples: Difference[] = [];
  const ranges: { after: SourceKey | null; through: SourceKey; rows: number; differences: number }[] = [];
  return {
    ranges,
    beginKeyRange: (after) => ranges.push({ after, through: [], rows: 0, differences: 0 }) - 1,
    extendKeyRange(keyRange, through, rows) {
      const range = ranges[keyRange]!;
      range.through = through;
      range.rows += rows;
    },
    async found(difference, keyRange) {
      if (counts[difference.kind]++ < EXAMPLES) examples.push(difference);
      if (keyRange !== null) ranges[keyRange]!.differences++;
      await tell(difference);
    },
    report() {
      const differing = ranges.filter((range) => range.differences > 0);
      return {
        counts,
        examples,
        ranges: {
          read: ranges.length,
          agree: ranges.length - differing.length,
          differing: differing.slice(0, RANGES_SHOWN),
        },
      };
    },
  };
}
