/** Reads rows by values that may be none of their columns' type. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { Page, ReadPlan, Source, SourceKey } from '../src/domain/source.js';

const NO_ROWS: Page = { columns: [], rows: [] };

/**
 * As {@link Source.readByValues}. A value that its column cannot hold (`abc` among integers), or a key of another
 * number of columns, has no row; it must not hide the rows of the others.
 */
export async function readWhatFits(
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
    const [a, b] = await Promise.all(halves.map((half) => readWhatFits(source, plan, columns, half)));
    return { columns: a!.columns.length > 0 ? a!.columns : b!.columns, rows: [...a!.rows, ...b!.rows] };
  }
}
