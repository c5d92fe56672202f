/** Looks up the last row of a page by the texts of its key: the next page begins after them, and would skip rows if they are of another key. */
import type { Dialect, PageOptions } from './dialect.js';
import { byValuesQuery, readingOrder } from './keyset-query.js';
import type { PreparedPlan } from './prepared-plans.js';

/** For a page of at most `wanted` rows, besides those that are read to see whether two share a key. */
export function lookUpLast(
  dialect: Dialect,
  prepared: PreparedPlan,
  wanted: number,
): NonNullable<PageOptions['lookUp']> {
  const order = readingOrder(prepared);
  return ({ rows, cut = false }) => {
    const index = Math.min(wanted, cut ? rows.length - prepared.lookahead : rows.length) - 1;
    const row = rows[index];
    if (row === undefined) return null;
    const texts = order.map(({ name, type }) => {
      const text = row[prepared.columns.findIndex((column) => column.name === name)]!;
      return type.finish?.(text) ?? text;
    });
    return { index, query: byValuesQuery(dialect, prepared, order, [texts]) };
  };
}
