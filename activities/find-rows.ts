/** Finds the rows behind external ids: by the column that holds the id, or the columns of the template that makes it. */
import type { MapResult } from '../src/domain/record.js';
import type { Page, SourceRow } from '../src/domain/source.js';
import { lookUpOf } from '../src/mapping/look-up.js';
import { keyIn } from '../src/reading/group.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import { readWhatFits } from './read-what-fits.js';

export interface FoundRows {
  readonly page: Page;
  /** What the mapping makes of the rows; only those that give one of the ids. */
  readonly results: readonly MapResult[];
  /** Whether an id that was not found has no row; transforms may hide one from a look-up by value. */
  readonly certain: boolean;
  /** How many rows were found of which the mapping makes no external id; each may be one of those asked for. */
  readonly unnamed: number;
}

const NO_ROWS: Page = { columns: [], rows: [] };

export async function findRows(sync: OpenSync, mapping: OpenMapping, ids: readonly string[]): Promise<FoundRows> {
  const how = lookUpOf(mapping.spec);
  const values = how === null ? [] : [...new Set(ids)].flatMap(how.values);
  if (how === null || values.length === 0)
    return { page: NO_ROWS, results: [], certain: how?.certain ?? false, unnamed: 0 };
  const found = await readWhatFits(sync.source, mapping.plan, how.columns, values);
  const wanted = new Set(ids);
  const keyOf = keyIn(mapping.plan);
  const rows: SourceRow[] = [];
  const results: MapResult[] = [];
  let unnamed = 0;
  const map = found.rows.length === 0 ? null : mapping.mapper(found.columns);
  for (const row of found.rows) {
    const result = map!(row, keyOf(row));
    if (result.externalId === null) unnamed++;
    if (result.externalId === null || !wanted.has(result.externalId)) continue;
    rows.push(row);
    results.push(result);
  }
  return { page: { columns: found.columns, rows }, results, certain: how.certain, unnamed };
}
