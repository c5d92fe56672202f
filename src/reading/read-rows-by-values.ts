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
 * of parts than there are columns, has no row instead of failing the query. Such values are isolated by halving the list.
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
  try {
    return await source.readByValues(plan, columns, shaped);
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || error.details['unfitValue'] !== true) throw error;
    if (shaped.length === 1) return NO_ROWS;
    const middle = shaped.length >> 1;
    const halves = [shaped.slice(0, middle), shaped.slice(middle)];
    const [a, b] = await Promise.all(halves.map((half) => readRowsByValues(source, plan, columns, half)));
    return { columns: a!.columns.length > 0 ? a!.columns : b!.columns, rows: [...a!.rows, ...b!.rows] };
  }
}
