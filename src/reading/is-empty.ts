/** Whether a mapping has no row in the source. */
import type { ReadPlan, Source } from '../domain/source/source.js';
import { EVERYTHING } from './read-bounds.js';
import { inKeyOrder } from './reading-order.js';

/** Asks for one row, by key. Throws what the source throws. */
export async function isEmpty(source: Pick<Source, 'readPage'>, plan: ReadPlan): Promise<boolean> {
  const { rows } = await source.readPage(inKeyOrder(plan), EVERYTHING, 1);
  return rows.length === 0;
}
