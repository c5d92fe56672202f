/** What differs between source and platform: counted in full, told one by one to whoever wants the list. */
import type { SourceKey } from '../src/domain/source.js';

export const DIFFERENCE_KINDS = ['stale', 'missing', 'extra', 'duplicate', 'unmappable'] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  readonly kind: DifferenceKind;
  readonly tenant: string | null;
  readonly externalId: string | null;
  /** null for a receipt without a row. */
  readonly key: SourceKey | null;
  /** In words, without values: `field email differs on the platform`. */
  readonly what: string;
}

/** A stretch of the source's keys that was read together: `after < key <= through`. */
export interface KeyRangeSum {
  readonly after: SourceKey | null;
  readonly through: SourceKey;
  readonly rows: number;
  readonly differences: number;
}

/** Told at most, of each kind, and of key ranges. */
const EXAMPLES = 5;
const RANGES_SHOWN = 20;

export interface Differences {
  /** Begins a key range behind a key; answers its number. */
  beginRange(after: SourceKey | null): number;
  /** So many more rows of the range were read, the last of them with this key. */
  extendRange(keyRange: number, through: SourceKey, rows: number): void;
  readonly ranges: readonly KeyRangeSum[];
  /** `keyRange`: null for a receipt without a row. */
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

export function openDifferences(tell: (difference: Difference) => Promise<void> | void): Differences {
  const counts: Record<DifferenceKind, number> = { stale: 0, missing: 0, extra: 0, duplicate: 0, unmappable: 0 };
  const examples: Difference[] = [];
  const ranges: { after: SourceKey | null; through: SourceKey; rows: number; differences: number }[] = [];
  return {
    ranges,
    beginRange: (after) => ranges.push({ after, through: [], rows: 0, differences: 0 }) - 1,
    extendRange(keyRange, through, rows) {
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
