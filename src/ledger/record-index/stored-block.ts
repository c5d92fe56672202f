/** A block as the database has it: one JSON text for some dozens of neighbouring records. */
import { HASH_BYTES } from '../../records/record-list.js';
import { NO_HASH, type EntryColumns, type RecordEntry, type Sending } from './entry-columns.js';
import { areSameIds, joinIds, splitIds, type JoinedIds } from './joined-ids.js';

/** The records with ids from `low` up to, but without, `until`. */
export interface RecordBlock {
  readonly low: string;
  /** The next block's `low`; null if this is the tenant's last block. */
  readonly until: string | null;
  readonly columns: EntryColumns;
}

interface BlockText {
  readonly low: string;
  readonly until: string | null;
  /** All ids as one text, parted by `lengths`. */
  readonly ids: string;
  readonly lengths: JoinedIds['lengths'];
  /** Base64. */
  readonly hashes: string;
  readonly sendings: readonly Sending[];
}

export function encodeBlock({ low, until, columns }: RecordBlock): string {
  const { text, lengths } = joinIds(columns.ids);
  const hashes = columns.hashes.toString('base64');
  return JSON.stringify({ low, until, ids: text, lengths, hashes, sendings: columns.sendings } satisfies BlockText);
}

/**
 * Decodes what {@link encodeBlock} made. Ids are split and entries are made only on demand: most blocks are compared as
 * a whole.
 */
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
    const { low, until, ids, lengths, hashes, sendings } = JSON.parse(text) as BlockText;
    this.low = low;
    this.until = until;
    this.#joined = { text: ids, lengths };
    this.hashes = Buffer.from(hashes, 'base64');
    this.sendings = sendings;
  }

  get length(): number {
    return this.hashes.length / HASH_BYTES;
  }

  get ids(): readonly string[] {
    return (this.#ids ??= splitIds(this.#joined));
  }

  /** Whether its ids are exactly these. */
  hasExactly(ids: readonly string[]): boolean {
    return ids.length === this.length && areSameIds(joinIds(ids), this.#joined);
  }

  entryAt(index: number): RecordEntry {
    this.#digits ??= this.hashes.toString('hex');
    let at = 0;
    for (let end = this.sendings[0]![0]; end <= index; end += this.sendings[at]![0]) at++;
    const [, readSeq, runId] = this.sendings[at]!;
    const hash = this.#digits.slice(index * NO_HASH.length, (index + 1) * NO_HASH.length);
    return { externalId: this.ids[index]!, contentHash: hash === NO_HASH ? null : hash, readSeq, runId };
  }

  get entries(): RecordEntry[] {
    return this.ids.map((_, index) => this.entryAt(index));
  }
}
