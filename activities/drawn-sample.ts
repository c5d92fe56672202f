/**
 * A sample of records, drawn evenly from all of them by a seed: the same seed draws the same records, as long as there
 * are the same. They are those whose names have the least hashes, so that one reading suffices.
 */
import { createHash } from 'node:crypto';
import type { MappedRecord } from '../src/domain/record.js';
import { aloneOf } from '../src/domain/record-list.js';

export interface Drawn {
  readonly record: MappedRecord;
  /** Of the key range in which it was read. */
  readonly keyRange: number;
}

export interface Sample {
  offer(record: MappedRecord, keyRange: number): void;
  drawn(): readonly Drawn[];
}

export function openSample(size: number, seed: string): Sample {
  let kept: (Drawn & { readonly lot: number })[] = [];
  let worst = Infinity;
  const cut = (): void => {
    kept = kept.sort((a, b) => a.lot - b.lot).slice(0, size);
    if (kept.length === size) worst = kept.at(-1)?.lot ?? 0;
  };
  return {
    offer(record, keyRange) {
      const lot = lotOf(seed, record);
      if (lot >= worst) return;
      kept.push({ record: aloneOf(record), keyRange, lot });
      if (kept.length >= 2 * size) cut();
    },
    drawn() {
      cut();
      return kept;
    },
  };
}

const lotOf = (seed: string, { tenant, externalId }: MappedRecord): number =>
  createHash('md5').update(`${seed}/${tenant}/${externalId}`).digest().readUIntBE(0, 6);
