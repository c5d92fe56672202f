/**
 * Entries of neighbouring records, column by column: an object for each would cost more than all that is done with
 * them.
 */
import { HASH_BYTES, MARK_BYTES } from '../../records/content-hashes.js';
import { compareIds } from '../record-key.js';

/** What the index knows about one record, as its last finished batch left it. */
export interface RecordEntry {
  readonly externalId: string;
  /** The content that the platform accepted last, 32 hex digits; null while that is not known. */
  readonly contentHash: string | null;
  /** The read sequence number of the reading that was sent last. */
  readonly readSeq: number;
  /** The run that sent it. */
  readonly runId: number;
}

/** So many entries in a row were sent by this run from this reading: neighbours are mostly read and sent together. */
export type Sending = readonly [count: number, readSeq: number, runId: number];

/** Entries in the order of their ids. */
export interface EntryColumns {
  readonly ids: readonly string[];
  /** Content hashes one after the other, {@link HASH_BYTES} each; zeros stand for null. */
  readonly hashes: Buffer;
  readonly sendings: readonly Sending[];
}

/** The hex digits that stand for an unknown hash. */
export const NO_HASH = '0'.repeat(2 * HASH_BYTES);

export const NO_COLUMNS: EntryColumns = { ids: [], hashes: Buffer.alloc(0), sendings: [] };

/** @param entries in the order of their ids */
export function columnsOf(entries: readonly RecordEntry[]): EntryColumns {
  const sendings: [count: number, readSeq: number, runId: number][] = [];
  let digits = '';
  for (const { contentHash, readSeq, runId } of entries) {
    digits += contentHash ?? NO_HASH;
    const last = sendings.at(-1);
    if (last?.[1] === readSeq && last[2] === runId) last[0]++;
    else sendings.push([1, readSeq, runId]);
  }
  return { ids: entries.map((entry) => entry.externalId), hashes: Buffer.from(digits, 'hex'), sendings };
}

/** The parts one after the other. */
export const concatenated = (...parts: EntryColumns[]): EntryColumns => ({
  ids: ([] as string[]).concat(...parts.map((part) => part.ids)),
  hashes: Buffer.concat(parts.map((part) => part.hashes)),
  sendings: parts.flatMap((part) => part.sendings),
});

/** The entries from one index up to, but without, another. */
export function entriesBetween({ ids, hashes, sendings }: EntryColumns, from: number, to: number): EntryColumns {
  let at = 0;
  return {
    ids: ids.slice(from, to),
    hashes: hashes.subarray(from * HASH_BYTES, to * HASH_BYTES),
    sendings: sendings.flatMap(([count, readSeq, runId]): Sending[] => {
      const inside = Math.min(to, at + count) - Math.max(from, at);
      at += count;
      return inside > 0 ? [[inside, readSeq, runId]] : [];
    }),
  };
}

/** How many of the entries have the hash of a row's content: it is known, and not that of a mark. */
export function acceptedOf({ ids, hashes }: EntryColumns): number {
  let accepted = 0;
  // Zeros stand for null, and hashes of marks begin with some.
  for (let i = 0; i < ids.length; i++) if (hashes.readUIntBE(i * HASH_BYTES, MARK_BYTES) !== 0) accepted++;
  return accepted;
}

/** Merges two lists in the order of ids; an entry of `newer` replaces the one with the same id. */
export function mergeEntries(entries: readonly RecordEntry[], newer: readonly RecordEntry[]): RecordEntry[] {
  const merged: RecordEntry[] = [];
  let next = 0;
  for (const entry of newer) {
    while (next < entries.length && compareIds(entries[next]!.externalId, entry.externalId) < 0)
      merged.push(entries[next++]!);
    if (entries[next]?.externalId === entry.externalId) next++;
    merged.push(entry);
  }
  return merged.concat(entries.slice(next));
}
