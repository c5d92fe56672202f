/** What the ledger knows of some dozens of neighbouring records, and its form in the database: one JSON text. */
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

/** Some dozens of neighbouring records: those with ids from `low` up to `until`. */
export interface RecordBlock {
  readonly low: string;
  /** The next block's `low`; null: up to the end. */
  readonly until: string | null;
  readonly entries: readonly RecordEntry[];
}

/** [how many entries in a row, readStamp, runId]: neighbours are read and sent together. */
type Sending = [count: number, readStamp: number, runId: number];

interface Stored {
  readonly low: string;
  readonly until: string | null;
  readonly ids: readonly string[];
  /** Content hashes one after the other, in base64: 16 bytes an entry, zeros for null. */
  readonly hashes: string;
  readonly sendings: readonly Sending[];
}

/** Never in a JSON text. */
export const SEPARATOR = '\u001e';
/** Of a content hash. */
export const HASH_BYTES = 16;
const HASH_DIGITS = 2 * HASH_BYTES;
const NO_HASH = '0'.repeat(HASH_DIGITS);

export function encodeBlock({ low, until, entries }: RecordBlock): string {
  const ids: string[] = [];
  const sendings: Sending[] = [];
  let hashes = '';
  let last: Sending | undefined;
  for (const { externalId, contentHash, readStamp, runId } of entries) {
    ids.push(externalId);
    hashes += contentHash ?? NO_HASH;
    if (last?.[1] === readStamp && last[2] === runId) last[0]++;
    else sendings.push((last = [1, readStamp, runId]));
  }
  const packed = packHashes(hashes).toString('base64');
  return JSON.stringify({ low, until, ids, hashes: packed, sendings } satisfies Stored);
}

/** A block as it is stored. An entry is made when it is looked at: all of them at once would outlive the look. */
export interface StoredBlock extends Omit<RecordBlock, 'entries'> {
  readonly ids: readonly string[];
  readonly entryAt: (index: number) => RecordEntry;
}

export function decodeBlock(text: string): StoredBlock {
  const { low, until, ids, hashes, sendings } = JSON.parse(text) as Stored;
  const digits = Buffer.from(hashes, 'base64').toString('hex');
  const entryAt = (index: number): RecordEntry => {
    let at = 0;
    for (let end = sendings[0]![0]; end <= index; end += sendings[at]![0]) at++;
    const [, readStamp, runId] = sendings[at]!;
    const hash = hashAt(digits, index);
    return { externalId: ids[index]!, contentHash: hash === NO_HASH ? null : hash, readStamp, runId };
  };
  return { low, until, ids, entryAt };
}

export const entriesOf = ({ ids, entryAt }: StoredBlock): RecordEntry[] => ids.map((_, index) => entryAt(index));

/** Content hashes, written one after the other in hex digits, as bytes. */
const packHashes = (digits: string): Buffer => Buffer.from(digits, 'hex');

/** One of the content hashes, from the digits of all. */
export const hashAt = (digits: string, index: number): string =>
  digits.slice(index * HASH_DIGITS, (index + 1) * HASH_DIGITS);

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
