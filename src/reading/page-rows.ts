/** How many rows a page asks for, by the width of the rows that were read before. */
import type { Page } from '../domain/source.js';

/** Rows of the first page, which tells how large rows are. */
export const FIRST_PAGE_ROWS = 100;
/** Rows of a page, at most: more hardly make a row cheaper, and grow old before they are mapped (docs/performance.md). */
const PAGE_ROWS = 2000;
/** Characters of a page, about: memory must not grow with the width of rows. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Rows of the next page, where a row has so many characters. */
export const pageRowsOf = (rowBytes: number): number =>
  Math.max(1, Math.min(PAGE_ROWS, Math.floor(PAGE_BYTES / rowBytes)));

/** Characters of a row, on average, from a few of the page's rows. */
export function averageBytes({ rows }: Page): number {
  const step = Math.ceil(rows.length / 20);
  let bytes = 1;
  let seen = 0;
  for (let i = 0; i < rows.length; i += step, seen++) for (const value of rows.at(i)!) bytes += value?.length ?? 0;
  return bytes / Math.max(1, seen);
}
