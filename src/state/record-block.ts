/** What the ledger knows of some dozens of neighbouring records, and its form in the database: one JSON text. */
import { HASH_BYTES } from '../domain/record-list.js';
import { areSameIds, joinIds, splitIds, type JoinedIds } from './joined-ids.js';
import { compareIds } from './record-key.js';

/** One record, as its last finished batch left it. */
export interface RecordEntry {
  readonly externalId: string;
  /** 32 hex digits of what the platform accepted last; null while unknown. */
  readonly contentHash: string | null;
  /** Logical time of the reading that was sent last. */
  readonly readStamp: number;
  /** The run that sent it. */
  readonly runId: number;
}

/** How many entries in a row, their readStamp and runId: neighbours are read and sent together. */
export type Sending = readonly [count: number, readStamp: number, runId: number];

/** The same of many records, column by column: an object each would cost more than all that is done with them. */
export interface EntryColumns {
  readonly ids: readonly string[];
  /** Content hashes one after the other: {@link HASH_BYTES} an entry, zeros for null. */
  readonly hashes: Buffer;
  readonly sendings: readonly Sending[];
}

/** Some dozens of neighbouring records: those with ids from `low` up to `until`. */
export interface RecordBlock {
  readonly low: string;
  /** The next block's `low`; null: up to the end. */
  readonly until: string | null;
  readonly columns: EntryColumns;
}

interface Stored {
  readonly low: string;
  readonly until: string | null;
  /** A list where an earlier version wrote it. */
  readonly ids: string | readonly string[];
  readonly lengths?: JoinedIds['lengths'];
  /** In base64. */
  readonly hashes: string;
  readonly sendings: readonly Sending[];
}

/** Never in a JSON text. */
export const SEPARATOR = '\u001e';
const HASH_DIGITS = 2 * HASH_BYTES;
const NO_HASH = '0'.repeat(HASH_DIGITS);

export function encodeBlock({ low, until, columns }: RecordBlock): string {
  const { text, lengths } = joinIds(columns.ids);
  const hashes = columns.hashes.toString('base64');
  return JSON.stringify({ low, until, ids: text, lengths, hashes, sendings: columns.sendings } satisfies Stored);
}

/** A block as it is stored. Its ids are parted, and its entries made, when they are looked at: few blocks are. */
export class StoredBlock implements EntryColumns {
  readonly low: string;
  readonly until: string | null;
  readonly hashes: Buffer;
  readonly sendings: readonly Sending[];
  readonly #joined: JoinedIds;
  #ids: readonly string[] | undefined;
  #digits: string | undefined;

  constructor(
    readonly tenantId: number,
    text: string,
  ) {
    const { low, until, ids, lengths = [], hashes, sendings } = JSON.parse(text) as Stored;
    this.low = low;
    this.until = until;
    this.#joined = typeof ids === 'string' ? { text: ids, lengths } : joinIds(ids);
    this.hashes = Buffer.from(hashes, 'base64');
    this.sendings = sendings;
  }

  get length(): number {
    return this.hashes.length / HASH_BYTES;
  }

  get ids(): readonly string[] {
    return (this.#ids ??= splitIds(this.#joined));
  }

  /** Whether these are its ids, all of them. */
  holds(ids: readonly string[]): boolean {
    return ids.length === this.length && areSameIds(joinIds(ids), this.#joined);
  }

  entryAt(index: number): RecordEntry {
    this.#digits ??= this.hashes.toString('hex');
    let at = 0;
    for (let end = this.sendings[0]![0]; end <= index; end += this.sendings[at]![0]) at++;
    const [, readStamp, runId] = this.sendings[at]!;
    const hash = hashAt(this.#digits, index);
    return { externalId: this.ids[index]!, contentHash: hash === NO_HASH ? null : hash, readStamp, runId };
  }

  get entries(): RecordEntry[] {
    return this.ids.map((_, index) => this.entryAt(index));
  }
}

/** One of the content hashes, from the digits of all. */
export const hashAt = (digits: string, index: number): string =>
  digits.slice(index * HASH_DIGITS, (index + 1) * HASH_DIGITS);

export const NO_COLUMNS: EntryColumns = { ids: [], hashes: Buffer.alloc(0), sendings: [] };

export function columnsOf(entries: readonly RecordEntry[]): EntryColumns {
  const sendings: [count: number, readStamp: number, runId: number][] = [];
  let digits = '';
  let last: [number, number, number] | undefined;
  for (const { contentHash, readStamp, runId } of entries) {
    digits += contentHash ?? NO_HASH;
    if (last?.[1] === readStamp && last[2] === runId) last[0]++;
    else sendings.push((last = [1, readStamp, runId]));
  }
  return { ids: entries.map((entry) => entry.externalId), hashes: Buffer.from(digits, 'hex'), sendings };
}

export const concatenated = (...parts: EntryColumns[]): EntryColumns => ({
  ids: ([] as string[]).concat(...parts.map((part) => part.ids)),
  hashes: Buffer.concat(parts.map((part) => part.hashes)),
  sendings: parts.flatMap((part) => part.sendings),
});

export function sliceOf({ ids, hashes, sendings }: EntryColumns, from: number, to: number): EntryColumns {
  let at = 0;
  return {
    ids: ids.slice(from, to),
    hashes: hashes.subarray(from * HASH_BYTES, to * HASH_BYTES),
    sendings: sendings.flatMap(([count, readStamp, runId]): Sending[] => {
      const inside = Math.min(to, at + count) - Math.max(from, at);
      at += count;
      return inside > 0 ? [[inside, readStamp, runId]] : [];
    }),
  };
}

/** How many of them the platform is known to have. */
export function acceptedOf({ ids, hashes }: EntryColumns): number {
  let accepted = 0;
  for (let i = 0; i < ids.length; i++) {
    const at = i * HASH_BYTES;
    // Nearly always the first bytes tell.
    if (hashes.readUInt32LE(at) !== 0 || hashes.subarray(at, at + HASH_BYTES).some((byte) => byte !== 0)) accepted++;
  }
  return accepted;
}

/** Two sorted lists as one; `changed` takes the place of entries with the same id. */
export function mergeEntries(entries: readonly RecordEntry[], changed: readonly RecordEntry[]): RecordEntry[] {
  const merged: RecordEntry[] = [];
  let i = 0;
  for (const entry of changed) {
    let order = 1;
    while (i < entries.length && (order = compareIds(entries[i]!.externalId, entry.externalId)) < 0)
      merged.push(entries[i++]!);
    if (order === 0) i++;
    merged.push(entry);
  }
  while (i < entries.length) merged.push(entries[i++]!);
  return merged;
}
