/** Looking up records by their keys, without a lock. */
import type { Knex } from 'knex';
import { HASH_BYTES } from '../../records/record-list.js';
import { compareIds, type RecordKeys } from '../record-key.js';
import { blocksOf } from './covering-blocks.js';
import type { RecordEntry } from './entry-columns.js';
import { areConsecutive, forEachBlock, inOrder } from './keys-in-blocks.js';
import type { StoredBlock } from './stored-block.js';

/** For callers that need only know which records have a given content: whole blocks are compared at once. */
export interface SameContent {
  /**
   * The content hashes to compare with, {@link HASH_BYTES} for each key. Called only if there is something to compare.
   */
  readonly hashes: () => Buffer;
  /** Called instead of `see`: the `count` keys from index `first` on have this content, sent by this run. */
  readonly sameContent: (first: number, count: number, runId: number) => void;
}

/**
 * Calls `see` with the index and the entry of each key that the record index has, in no particular order, except keys
 * for which `same.sameContent` is called.
 */
export async function readRecords(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  see: (index: number, entry: RecordEntry) => void,
  same?: SameContent,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(knex, mappingId, keys, order, 'read');
  forEachBlock(keys, order, blocks, (block, indexes) => {
    if (same === undefined || !hasSameContent(block, keys, indexes, same)) {
      seeEach(block, keys, indexes, see);
      return;
    }
    let first = indexes[0]!;
    for (const [count, , runId] of block.sendings) {
      same.sameContent(first, count, runId);
      first += count;
    }
  });
}

function seeEach(
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

/** Whether the block has exactly these records, each with the content that is compared with. */
function hasSameContent(
  block: StoredBlock,
  keys: RecordKeys,
  indexes: readonly number[],
  { hashes }: SameContent,
): boolean {
  if (indexes.length !== block.length || !areConsecutive(indexes)) return false;
  const first = indexes[0]!;
  const end = first + indexes.length;
  return (
    block.hasExactly(keys.externalIds.slice(first, end)) &&
    block.hashes.equals(hashes().subarray(first * HASH_BYTES, end * HASH_BYTES))
  );
}
