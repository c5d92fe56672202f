/**
 * Which of a list of keys lie in which blocks. Keys are handled by their indexes, since their columns are never
 * rearranged.
 */
import { compareIds, compareKeys, LOWEST, type RecordKeys } from '../record-key.js';
import type { StoredBlock } from './stored-block.js';

/** Indexes of the keys in the ledger's order. A source that is read by its key mostly delivers them so. */
export function inOrder(keys: RecordKeys): number[] {
  const order = Array.from<number>({ length: keys.externalIds.length });
  let isSorted = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (isSorted && i > 0 && compareKeys(keys, i - 1, i) > 0) isSorted = false;
  }
  return isSorted ? order : order.sort((a, b) => compareKeys(keys, a, b));
}

/** Whether each index is the one before it plus one: then the keys' columns can be sliced. */
export function areConsecutive(indexes: readonly number[]): boolean {
  for (let i = 1; i < indexes.length; i++) if (indexes[i] !== indexes[i - 1]! + 1) return false;
  return true;
}

/**
 * Hands each block that covers any of the keys the indexes of those, in order.
 *
 * @param order indexes of the keys, and `blocks` some blocks, both in the ledger's order
 */
export function forEachBlock(
  keys: RecordKeys,
  order: readonly number[],
  blocks: readonly StoredBlock[],
  visit: (block: StoredBlock, indexes: readonly number[]) => void,
): void {
  for (const { block, from, to } of placed(keys, order, blocks)) if (to > from) visit(block, order.slice(from, to));
}

/** Indexes of the keys that none of the blocks covers, in order. */
export function uncovered(keys: RecordKeys, order: readonly number[], blocks: readonly StoredBlock[]): number[] {
  const gaps: number[][] = [];
  let behind = 0;
  for (const { from, to } of placed(keys, order, blocks)) {
    if (from > behind) gaps.push(order.slice(behind, from));
    behind = to;
  }
  return [...gaps, order.slice(behind)].flat();
}

interface PlacedBlock {
  readonly block: StoredBlock;
  /** Its keys are those from this place in the order ... */
  readonly from: number;
  /** ... up to, but without, this one. */
  readonly to: number;
}

function* placed(keys: RecordKeys, order: readonly number[], blocks: readonly StoredBlock[]): Generator<PlacedBlock> {
  let to = 0;
  for (const block of blocks) {
    const { tenantId, low, until } = block;
    const from = placeOf(keys, order, to, tenantId, low);
    to =
      until === null ? placeOf(keys, order, from, tenantId + 1, LOWEST) : placeOf(keys, order, from, tenantId, until);
    yield { block, from, to };
  }
}

/** The first place in the order, not before `start`, whose key is not lower than this one. */
function placeOf(
  { tenantIds, externalIds }: RecordKeys,
  order: readonly number[],
  start: number,
  tenantId: number,
  externalId: string,
): number {
  let [low, high] = [start, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const index = order[middle]!;
    if ((tenantIds[index]! - tenantId || compareIds(externalIds[index]!, externalId)) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
