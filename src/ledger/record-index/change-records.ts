/**
 * Changing records, under the locks of their blocks.
 *
 * A block covers the keys from its `low` up to the next block's, also those without a record yet. So only the
 * transaction that has locked the block that covers a key can write that record. Full blocks are cut; none is joined
 * or deleted, except by forget-records.ts.
 */
import type { Knex } from 'knex';
import { HASH_BYTES } from '../../records/record-list.js';
import { packTexts, prepared, unpackedTexts } from '../database/statements.js';
import { compareIds, idHex, type RecordKeys } from '../record-key.js';
import { blocksOf } from './covering-blocks.js';
import { cutBlock, type WrittenBlock } from './cut-block.js';
import {
  acceptedOf,
  columnsOf,
  concatenated,
  mergeEntries,
  entriesBetween,
  type EntryColumns,
  type RecordEntry,
} from './entry-columns.js';
import { areConsecutive, forEachBlock, inOrder } from './keys-in-blocks.js';
import { encodeBlock, type StoredBlock } from './stored-block.js';

/** Gets the index of a key and the record's entry; returns the new entry, or undefined to leave it as it is. */
export type Decide = (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined;

/** All keys from index `from` on were accepted, whatever was known about them before. */
export interface AcceptedKeys {
  readonly from: number;
  /** Content hashes of these keys, {@link HASH_BYTES} each. */
  readonly hashes: Buffer;
  readonly readSeq: number;
  readonly runId: number;
}

/**
 * Calls `decide` for each of the keys and writes what it returns. A key that occurs twice is decided twice, the second
 * time with the first result. The blocks stay locked until the transaction ends.
 *
 * @param accepted a shortcut: `decide` must return just this for these keys, so that it need not be called
 */
export async function changeRecords(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  decide: Decide,
  accepted?: AcceptedKeys,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(trx, mappingId, keys, order, 'change');
  const written: WrittenBlock[] = [];
  forEachBlock(keys, order, blocks, (block, indexes) => {
    const filled = accepted && withGapFilled(block, keys, indexes, accepted);
    if (filled !== undefined) {
      written.push(...cutBlock(block, filled));
      return;
    }
    const decided = decidedEntries(block, keys, indexes, decide);
    if (decided.length > 0) written.push(...cutBlock(block, columnsOf(mergeEntries(block.entries, decided))));
  });
  await storeBlocks(trx, mappingId, written);
}

/**
 * Inserts accepted records between two of the block's own, or behind them all, without looking at any entry: on a first
 * load that fits nearly all records. Returns undefined if the keys do not lie like that.
 */
function withGapFilled(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  { from, hashes, readSeq, runId }: AcceptedKeys,
): EntryColumns | undefined {
  const first = indexes[0]!;
  const end = first + indexes.length;
  if (first < from || !areConsecutive(indexes)) return undefined;
  for (let i = first + 1; i < end; i++) if (compareIds(externalIds[i - 1]!, externalIds[i]!) >= 0) return undefined;
  const { ids } = block;
  let gap = ids.length;
  while (gap > 0 && compareIds(ids[gap - 1]!, externalIds[first]!) >= 0) gap--;
  if (gap < ids.length && compareIds(externalIds[end - 1]!, ids[gap]!) >= 0) return undefined;
  return concatenated(
    entriesBetween(block, 0, gap),
    {
      ids: externalIds.slice(first, end),
      hashes: hashes.subarray((first - from) * HASH_BYTES, (end - from) * HASH_BYTES),
      sendings: [[indexes.length, readSeq, runId]],
    },
    entriesBetween(block, gap, ids.length),
  );
}

/** The entries that `decide` returns, in order. */
function decidedEntries(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  decide: Decide,
): RecordEntry[] {
  const { ids } = block;
  const decided: RecordEntry[] = [];
  let at = 0;
  for (const index of indexes) {
    const externalId = externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    const stored = ids[at] === externalId ? block.entryAt(at) : undefined;
    const isRepeated = decided.at(-1)?.externalId === externalId;
    const entry = decide(index, isRepeated ? decided.at(-1) : stored);
    if (entry === undefined) continue;
    if (isRepeated) decided.pop();
    decided.push(entry);
  }
  return decided;
}

/** Writes blocks that the transaction has locked, or the parts of such a block. */
export async function storeBlocks(trx: Knex, mappingId: number, blocks: readonly WrittenBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  await prepared(
    trx,
    'store_blocks',
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT :mapping, tenant_id, decode(low, 'hex'), accepted, records
     FROM unnest(CAST(:tenants AS int[]), CAST(:lows AS text[]), CAST(:accepted AS int[]), ${unpackedTexts('records')})
       AS b(tenant_id, low, accepted, records)
     ON CONFLICT (mapping_id, tenant_id, low) DO UPDATE SET accepted = excluded.accepted, records = excluded.records`,
    {
      mapping: mappingId,
      tenants: blocks.map((block) => block.tenantId),
      lows: blocks.map((block) => idHex(block.low)),
      accepted: blocks.map((block) => acceptedOf(block.columns)),
      records: packTexts(blocks.map(encodeBlock)),
    },
  );
}
