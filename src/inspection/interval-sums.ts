/**
 * Counts and sums of hashes of two sides, source and ledger, for intervals of the ledger's order of records: if both agree,
 * nothing has to be read twice. The memory that this takes does not grow with the table.
 */
import { compareIds, type RecordPlace } from '../ledger/record-key.js';

/** The sums of one mapping. */
export interface IntervalSums {
  /** The interval that a record belongs to. */
  intervalOf(place: RecordPlace): number;
  /** A row of the source, read as part of a key range. */
  addRow(interval: number, tenantId: number, contentHash: string, keyRange: number): void;
  /** A row that gives no record now but names one, read as part of a key range. */
  addFailedRow(interval: number, keyRange: number): void;
  /** An accepted hash of the ledger. Both kinds may be added in any order. */
  addAcceptedHash(interval: number, tenantId: number, contentHash: string): void;
  /** Intervals in which the two sides differ, in order. */
  differing(): DifferingInterval[];
}

/** An interval whose two sides differ. */
export interface DifferingInterval {
  readonly interval: number;
  /** How many the ledger has in the interval. */
  readonly acceptedHashes: number;
  /** The first and the last key range with a row in it, failed or not; null if it has none. */
  readonly keyRanges: readonly [number, number] | null;
}

/** Sums of 48-bit numbers are exact in a double, and stay so by this modulus. */
const MODULUS = 2 ** 48;
const SUMS = 3;

/**
 * `cuts`: where intervals begin, in order; the first one also takes what comes before it. Two different sets of records
 * have equal sums only if their hashes happen to add up alike in all of the 128 bits that are compared.
 */
export function openIntervalSums(cuts: readonly RecordPlace[]): IntervalSums {
  const size = Math.max(1, cuts.length);
  const rows = new Float64Array(size);
  const acceptedHashes = new Float64Array(size);
  // What the source has beyond the ledger: rows are added, accepted hashes are taken away.
  const sums = new Float64Array(size * SUMS);
  const first = new Int32Array(size).fill(-1);
  const last = new Int32Array(size);
  let recent = 0;
  const isFrom = (interval: number, { tenantId, externalId }: RecordPlace): boolean => {
    const cut = cuts[interval]!;
    return cut.tenantId < tenantId || (cut.tenantId === tenantId && compareIds(cut.externalId, externalId) <= 0);
  };
  const add = (interval: number, tenantId: number, contentHash: string, sign: 1 | -1): void => {
    const words = [
      parseInt(contentHash.slice(0, 12), 16),
      parseInt(contentHash.slice(12, 24), 16),
      // A record of one tenant in the place of another's must be noticed, though their contents are the same.
      Math.imul(parseInt(contentHash.slice(24), 16) ^ Math.imul(tenantId, 0x9e3779b1), 0x85ebca6b) >>> 0,
    ];
    for (const [i, word] of words.entries())
      sums[interval * SUMS + i] = (sums[interval * SUMS + i]! + sign * word) % MODULUS;
  };
  const extend = (interval: number, keyRange: number): void => {
    if (first[interval] === -1) first[interval] = keyRange;
    last[interval] = keyRange;
  };
  return {
    intervalOf(place) {
      // Rows in the order of their key mostly stay in the interval of the row before.
      if (cuts.length > 0 && isFrom(recent, place) && (recent + 1 === size || !isFrom(recent + 1, place)))
        return recent;
      let [low, high] = [0, cuts.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (isFrom(middle, place)) low = middle;
        else high = middle - 1;
      }
      recent = low;
      return low;
    },
    addRow(interval, tenantId, contentHash, keyRange) {
      rows[interval]!++;
      add(interval, tenantId, contentHash, 1);
      extend(interval, keyRange);
    },
    addFailedRow: extend,
    addAcceptedHash(interval, tenantId, contentHash) {
      acceptedHashes[interval]!++;
      add(interval, tenantId, contentHash, -1);
    },
    differing() {
      const found: DifferingInterval[] = [];
      for (let interval = 0; interval < size; interval++) {
        const same = [0, 1, 2].every((i) => sums[interval * SUMS + i] === 0);
        if (rows[interval] === acceptedHashes[interval] && same) continue;
        const keyRanges = first[interval] === -1 ? null : ([first[interval]!, last[interval]!] as const);
        found.push({ interval, acceptedHashes: acceptedHashes[interval]!, keyRanges });
      }
      return found;
    },
  };
}
