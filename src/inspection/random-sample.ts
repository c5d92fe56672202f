/**
 * A sample of records, drawn evenly from all of them by a seed: the same seed draws the same records, as long as the
 * records are the same. They are those whose names have the smallest hashes, so that one read of the source is
 * enough.
 */
import { createHash } from 'node:crypto';
import type { MappedRecord } from '../domain/records/record.js';
import { aloneOf } from '../records/record-list.js';

/** A record of the sample. */
export interface SampledRecord {
  readonly record: MappedRecord;
  /** The key range in which it was read. */
  readonly keyRange: number;
}

/** Draws from records that are offered one by one; memory is needed for twice the sample at most. */
export interface Sample {
  offer(record: MappedRecord, keyRange: number): void;
  records(): readonly SampledRecord[];
}

/** A sample of `size` records, or of all if there are fewer. */
export function openSample(size: number, seed: string): Sample {
  let kept: (SampledRecord & { readonly lot: number })[] = [];
  let worst = Infinity;
  const cut = (): void => {
    kept = kept.sort((a, b) => a.lot - b.lot).slice(0, size);
    if (kept.length === size) worst = kept.at(-1)?.lot ?? 0;
  };
  return {
    offer(record, keyRange) {
      const lot = lotOf(seed, record);
      if (lot >= worst) return;
      // On its own, so that one record does not keep the texts of its whole page in memory.
      kept.push({ record: aloneOf(record), keyRange, lot });
      if (kept.length >= 2 * size) cut();
    },
    records() {
      cut();
      return kept;
    },
  };
}

/** The hash by which records compete; 48 bits, which a number represents exactly. */
const lotOf = (seed: string, { tenant, externalId }: MappedRecord): number =>
  createHash('md5').update(`${seed}/${tenant}/${externalId}`).digest().readUIntBE(0, 6);
