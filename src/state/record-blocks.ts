/**
 * The ledger's records, kept in blocks of neighbours (record-key.ts): a tree's leaves, one row each.
 *
 * A row for each record would cost more than the way to the platform (ADR 0014). A block covers the keys from `low`
 * up to `until`, which is the next one's `low`; a full one is cut, and none is ever joined or deleted. Whoever holds the lock
 * of the block that covers a key is the only one to read and write the record, also where there is none yet.
 */
import type { Knex } from 'knex';
import { HASH_BYTES } from '../domain/record-list.js';
import type { StoredBlock } from './record-block.js';
import {
  acceptedOf,
  columnsOf,
  concatenated,
  encodeBlock,
  mergeEntries,
  SEPARATOR,
  sliceOf,
  type RecordBlock,
  type EntryColumns,
  type RecordEntry,
} from './record-block.js';
import { prepared } from './prepared.js';
import { BLOCK_CHARACTERS, blocksOf, inOrder, walk } from './covering-blocks.js';
import { compareIds, idHex, type RecordKeys } from './record-key.js';

/** Entries of a block after cutting: more make a look-up of one record dear, fewer make many rows. */
const BLOCK_ENTRIES = 64;
/** The same where records arrive singly, in no order: each reads and writes a whole block. */
const SMALL_BLOCK = 8;
/** Fewer new records than this in a block, in its middle, are such. */
const FEW = 8;
interface WrittenBlock extends RecordBlock {
  readonly tenantId: number;
}

/** The keys from index `from` on: all were accepted with these hashes, whatever was known of them. */
export interface AcceptedKeys {
  readonly from: number;
  /** {@link HASH_BYTES} a key. */
  readonly hashes: Buffer;
  readonly readStamp: number;
  readonly runId: number;
}

/**
 * Decides about records one by one: `decide` gets the index of a key and its entry, and answers what the entry is to
 * be from now on, or undefined to leave it as it is. All blocks concerned stay locked until the transaction ends.
 */
export async function changeRecords(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  decide: (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined,
  accepted?: AcceptedKeys,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(trx, mappingId, keys, order, true);
  const written: WrittenBlock[] = [];
  walk(keys, order, blocks, (block, indexes) => {
    const filled = accepted && withGapFilled(block, keys, indexes, accepted);
    if (filled !== undefined) {
      written.push(...cut(block, filled));
      return;
    }
    const changed = decideBlock(block, keys, indexes, decide);
    if (changed.length > 0) written.push(...cut(block, columnsOf(mergeEntries(block.entries, changed))));
  });
  await store(trx, mappingId, written);
}

/** What the ledger is asked about many records at once, where whole blocks can answer. */
export interface SameRecords {
  /** Content hashes of the keys, asked for when there is something to compare. */
  readonly hashes: () => Buffer;
  /** So many keys from this index on have the content that the platform accepted last, in this run. */
  readonly see: (first: number, count: number, runId: number) => void;
}

/** Looks records up; nothing is locked. `see` is called for each that the ledger knows, but those told to `same`. */
export async function readRecords(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  see: (index: number, entry: RecordEntry) => void,
  same?: SameRecords,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(knex, mappingId, keys, order, false);
  walk(keys, order, blocks, (block, indexes) => {
    if (same !== undefined && isSameAs(block, keys, indexes, same)) {
      let first = indexes[0]!;
      for (const [count, , runId] of block.sendings) {
        same.see(first, count, runId);
        first += count;
      }
      return;
    }
    seeBlock(block, keys, indexes, see);
  });
}

/** Of the keys, those that the block has. */
function seeBlock(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  see: (index: number, entry: RecordEntry) => void,
): void {
  const { ids } = block;
  let at = 0;
  for (const index of indexes) {
    const externalId = externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    if (at === ids.length) return;
    if (ids[at] === externalId) see(index, block.entryAt(at));
  }
}

/** Whether the block holds just these records, and each with the same content. */
function isSameAs(block: StoredBlock, keys: RecordKeys, indexes: readonly number[], { hashes }: SameRecords): boolean {
  if (indexes.length !== block.length || !areNeighbours(indexes)) return false;
  const first = indexes[0]!;
  const end = first + indexes.length;
  return (
    block.holds(keys.externalIds.slice(first, end)) &&
    block.hashes.equals(hashes().subarray(first * HASH_BYTES, end * HASH_BYTES))
  );
}

/**
 * The block with the accepted records of the keys, where all of them lie between two neighbours of its own, or behind
 * all: then none of its entries has to be looked at.
 */
function withGapFilled(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  { from, hashes, readStamp, runId }: AcceptedKeys,
): EntryColumns | undefined {
  const first = indexes[0]!;
  const end = first + indexes.length;
  if (first < from || !areNeighbours(indexes)) return undefined;
  for (let i = first + 1; i < end; i++) if (compareIds(externalIds[i - 1]!, externalIds[i]!) >= 0) return undefined;
  const { ids } = block;
  let gap = ids.length;
  while (gap > 0 && compareIds(ids[gap - 1]!, externalIds[first]!) >= 0) gap--;
  if (gap < ids.length && compareIds(externalIds[end - 1]!, ids[gap]!) >= 0) return undefined;
  return concatenated(
    sliceOf(block, 0, gap),
    {
      ids: externalIds.slice(first, end),
      hashes: hashes.subarray((first - from) * HASH_BYTES, (end - from) * HASH_BYTES),
      sendings: [[indexes.length, readStamp, runId]],
    },
    sliceOf(block, gap, ids.length),
  );
}

/** Whether each index is the next one. */
function areNeighbours(indexes: readonly number[]): boolean {
  for (let i = 1; i < indexes.length; i++) if (indexes[i] !== indexes[i - 1]! + 1) return false;
  return true;
}

function decideBlock(
  block: StoredBlock,
  keys: RecordKeys,
  indexes: readonly number[],
  decide: (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined,
): RecordEntry[] {
  const { ids } = block;
  const changed: RecordEntry[] = [];
  let at = 0;
  for (const index of indexes) {
    const externalId = keys.externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    const stored = ids[at] === externalId ? block.entryAt(at) : undefined;
    const again = changed.at(-1)?.externalId === externalId;
    const entry = decide(index, again ? changed.at(-1) : stored);
    if (entry === undefined) continue;
    if (again) changed.pop();
    changed.push(entry);
  }
  return changed;
}

/**
 * A block that has grown too large, in parts of about one size. What arrives in its middle singly arrives so again: then
 * parts are small, since each later record costs reading and writing its whole block.
 */
function cut(block: StoredBlock, grown: EntryColumns): WrittenBlock[] {
  const { tenantId, low, until } = block;
  const { length } = grown.ids;
  const added = length - block.length;
  const isAppended = grown.ids.at(-1) !== block.ids.at(-1);
  const fill = added < FEW && !isAppended ? SMALL_BLOCK : BLOCK_ENTRIES;
  const characters = grown.ids.reduce((sum, id) => sum + id.length, 0);
  const fits = length <= 1.5 * fill && characters <= BLOCK_CHARACTERS;
  if (added === 0 || fits) return [{ tenantId, low, until, columns: grown }];
  const count = Math.max(Math.ceil(length / fill), Math.ceil(characters / BLOCK_CHARACTERS));
  const size = Math.ceil(length / count);
  const parts: WrittenBlock[] = [];
  for (let i = 0; i < length; i += size)
    parts.push({
      tenantId,
      low: i === 0 ? low : grown.ids[i]!,
      until: grown.ids[i + size] ?? until,
      columns: sliceOf(grown, i, i + size),
    });
  return parts;
}

async function store(trx: Knex, mappingId: number, blocks: readonly WrittenBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  await prepared(
    trx,
    'store_blocks',
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT :mapping, tenant_id, decode(low, 'hex'), accepted, records
     FROM unnest(CAST(:tenants AS int[]), CAST(:lows AS text[]), CAST(:accepted AS int[]),
       string_to_array(:records, :separator)) AS b(tenant_id, low, accepted, records)
     ON CONFLICT (mapping_id, tenant_id, low) DO UPDATE SET accepted = excluded.accepted, records = excluded.records`,
    {
      mapping: mappingId,
      tenants: blocks.map((b) => b.tenantId),
      lows: blocks.map((b) => idHex(b.low)),
      accepted: blocks.map(({ columns }) => acceptedOf(columns)),
      // One text for all: quoting each as an array's element costs more than everything else here.
      records: blocks.map(encodeBlock).join(SEPARATOR),
      separator: SEPARATOR,
    },
  );
}
