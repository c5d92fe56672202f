/** Reads rows by values that may not fit the types of the columns. */
import { PartnerSyncError } from '../domain/errors.js';
import type { Page, ReadPlan, Source, SourceKey } from '../domain/source/source.js';

/**
 * How many rows callers look up at once, by their keys or external ids: few enough for one query of any source, and to
 * be held in memory.
 */
export const LOOK_UP_ROWS = 500;

/** What is found of nothing. */
export const NO_ROWS: Page = { columns: [], rows: [] };

/**
 * As {@link Source.readByValues}, but a value that its column cannot hold (`abc` for an integer), or with another number
 * of parts than there are columns, has no row instead of failing the query. Such values are isolated by halving the list. More
 * than {@link LOOK_UP_ROWS} values are looked up one part after the other: an id may be cut into many values, and a query
 * binds only so many.
 */
export async function readRowsByValues(
  source: Pick<Source, 'readByValues'>,
  plan: ReadPlan,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Page> {
  const shaped = values.every((value) => value.length === columns.length)
    ? values
    : values.filter((value) => value.length === columns.length);
  if (shaped.length === 0) return NO_ROWS;
  if (shaped.length > LOOK_UP_ROWS) return readInParts(source, plan, columns, shaped);
  try {
    return await source.readByValues(plan, columns, shaped);
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || error.details['unfitValue'] !== true) throw error;
    if (shaped.length === 1) return NO_ROWS;
    const middle = shaped.length >> 1;
    const halves = [shaped.slice(0, middle), shaped.slice(middle)];
    const [a, b] = await Promise.all(halves.map((half) => readRowsByValues(source, plan, columns, half)));
    return together([a!, b!]);
  }
}

async function readInParts(
  source: Pick<Source, 'readByValues'>,
  plan: ReadPlan,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Page> {
  const pages: Page[] = [];
  for (let from = 0; from < values.length; from += LOOK_UP_ROWS)
    pages.push(await readRowsByValues(source, plan, columns, values.slice(from, from + LOOK_UP_ROWS)));
  return together(pages);
}

/**
 * The rows of all pages, each once: values that differ may be equal to the column, and so find the same row. Rows that are equal in
 * every column are one as well: they are the same record.
 */
function together(pages: readonly Page[]): Page {
  const rows = new Map(pages.flatMap((page) => [...page.rows].map((row) => [JSON.stringify(row), row] as const)));
  return { columns: pages.find(({ columns }) => columns.length > 0)?.columns ?? [], rows: [...rows.values()] };
}
