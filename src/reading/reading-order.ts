/** The order in which rows are read, and where a row is in it. */
import type { RowPosition, ReadPlan, SourceKey, SourceRow } from '../domain/source/source.js';

/** The same plan, read in the order of the key alone. */
export const inKeyOrder = (plan: ReadPlan): ReadPlan => ({ ...plan, cursor: null });

/** The same for who counts rows that share a key, which are refused otherwise. */
export const countingSharedKeys = (plan: ReadPlan): ReadPlan => ({ ...inKeyOrder(plan), countsSharedKeys: true });

/** A function from a row of the plan's columns to its key. Key columns are never NULL. */
export function keyIn({ columns, key }: ReadPlan): (row: SourceRow) => SourceKey {
  const [first, ...others] = key.map((column) => columns.indexOf(column));
  if (others.length === 0) return (row) => [row[first!]!];
  return (row) => [row[first!]!, ...others.map((i) => row[i]!)];
}

/** A function from a row of the plan's columns to its position in the reading order. */
export function positionIn(plan: ReadPlan): (row: SourceRow) => RowPosition {
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keyOf = keyIn(plan);
  return (row) => ({ cursor: cursor < 0 ? null : row[cursor]!, key: keyOf(row) });
}
