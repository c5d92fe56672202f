/** Chooses the number of rows per page from the width of the rows that were read before. */
import type { Page } from '../domain/source/source.js';

/** Rows of the first page, from which the width of the rows is measured. */
export const FIRST_PAGE_ROWS = 100;
/**
 * Most rows of a page. Larger pages hardly make a row cheaper, and survive a garbage collection before they are mapped
 * (docs/performance.md).
 */
const PAGE_ROWS = 2000;
/** Approximate number of characters of a page, so that wide rows do not take more memory. */
const TARGET_PAGE_CHARACTERS = 4 * 1024 * 1024;

/** Rows to request for the next page, given the average characters of a row; at least one. */
export const rowsPerPage = (rowLength: number): number =>
  Math.max(1, Math.min(PAGE_ROWS, Math.floor(TARGET_PAGE_CHARACTERS / rowLength)));

/** Average characters of a row, measured on about 20 rows of the page; never zero. */
export function averageRowLength({ rows }: Page): number {
  const step = Math.ceil(rows.length / 20);
  let characters = 1;
  let seen = 0;
  for (let i = 0; i < rows.length; i += step, seen++) for (const value of rows.at(i)!) characters += value?.length ?? 0;
  return characters / Math.max(1, seen);
}
