/** Cuts a block that has grown too large. */
import { BLOCK_CHARACTERS } from './covering-blocks.js';
import { entriesBetween, type EntryColumns } from './entry-columns.js';
import type { RecordBlock, StoredBlock } from './stored-block.js';

/** Records of a block after cutting: more would make looking up one record expensive, fewer would make many rows. */
const BLOCK_RECORDS = 64;
/** The same if records arrive one by one, in no order, so that each rewrites a whole block. */
const SMALL_BLOCK_RECORDS = 8;
/** Fewer new records than this, in the middle of a block, count as arriving one by one. */
const FEW = 8;
/** A block may grow to this multiple of its size before it is cut, or every append to a full block would cut it. */
const SLACK = 1.5;

export interface WrittenBlock extends RecordBlock {
  readonly tenantId: number;
}

/** The block with its new content, `grown`, in parts of about equal size if that is too large for one. */
export function cutBlock(block: StoredBlock, grown: EntryColumns): WrittenBlock[] {
  const { tenantId, low, until } = block;
  const { length } = grown.ids;
  const added = length - block.length;
  const isAppended = grown.ids.at(-1) !== block.ids.at(-1);
  const wanted = added < FEW && !isAppended ? SMALL_BLOCK_RECORDS : BLOCK_RECORDS;
  const characters = grown.ids.reduce((sum, id) => sum + id.length, 0);
  const fits = length <= SLACK * wanted && characters <= BLOCK_CHARACTERS;
  if (added === 0 || fits) return [{ tenantId, low, until, columns: grown }];
  const count = Math.max(Math.ceil(length / wanted), Math.ceil(characters / BLOCK_CHARACTERS));
  const size = Math.ceil(length / count);
  const parts: WrittenBlock[] = [];
  for (let i = 0; i < length; i += size)
    parts.push({
      tenantId,
      low: i === 0 ? low : grown.ids[i]!,
      until: grown.ids[i + size] ?? until,
      columns: entriesBetween(grown, i, i + size),
    });
  return parts;
}
