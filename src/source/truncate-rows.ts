/** Truncates a list of rows without decoding or copying them. */
import type { Rows } from '../domain/source.js';

/** The first `count` rows of `rows`, or all if there are fewer; rows that are still bytes stay so. */
export function truncateRows(rows: Rows, count: number): Rows {
  if (rows.length <= count) return rows;
  const { inBytes } = rows;
  const first: Rows = {
    length: count,
    at(index) {
      const i = index < 0 ? count + index : index;
      return i >= 0 && i < count ? rows.at(i) : undefined;
    },
    *[Symbol.iterator]() {
      for (let i = 0; i < count; i++) yield rows.at(i)!;
    },
  };
  return inBytes === undefined ? first : { ...first, inBytes };
}
