/** Finds the rows of given external ids, through the column or the template's columns that the id is made from. */
import { PartnerSyncError } from '../domain/errors.js';
import type { MapResult } from '../domain/records/record.js';
import type { Page, Source, SourceRow } from '../domain/source/source.js';
import { lookUpOf, type ExternalIdLookUp } from '../mapping/compile/external-id-look-up.js';
import type { PreparedMapping } from './prepared-mapping.js';
import { NO_ROWS, readRowsByValues } from './read-rows-by-values.js';

/** The rows that map to one of the external ids, and how complete they are. */
export interface FoundRows {
  readonly page: Page;
  /** The result of each row of `page`, in the same order. */
  readonly results: readonly MapResult[];
  /** Whether an id that was not found has no row; false if transforms may hide one from a look-up by value. */
  readonly certain: boolean;
  /** How many more rows were found from which the mapping makes no external id; each may belong to one of the ids. */
  readonly unnamed: number;
}

/**
 * The results of {@link findRows}; null if the query fails, as it may time out without an index on the columns of the external
 * id: then nothing is known of the rows. For rows without which the caller can go on.
 */
export async function findRowsIfPossible(...args: Parameters<typeof findRows>): Promise<readonly MapResult[] | null> {
  try {
    return (await findRows(...args)).results;
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'source_query_failed') return null;
    throw error;
  }
}

/**
 * How rows are found by their external ids, as far as the types of the columns tell as well. Transforms may make other texts
 * of the values than those of their types.
 */
export async function idLookUpOf(
  { source }: { readonly source: Pick<Source, 'describe'> },
  { spec, plan }: Pick<PreparedMapping, 'spec' | 'plan'>,
): Promise<ExternalIdLookUp | null> {
  const how = lookUpOf(spec);
  const isSplit = how !== null && how.certain && how.columns.length > 1;
  return isSplit ? lookUpOf(spec, await source.describe(plan.relation)) : how;
}

/** Reads the rows of `ids`. Ids without a row are absent from the result. Throws what the source throws. */
export async function findRows(
  sync: { readonly source: Pick<Source, 'describe' | 'readByValues'> },
  mapping: Pick<PreparedMapping, 'spec' | 'plan' | 'mapper'>,
  ids: readonly string[],
): Promise<FoundRows> {
  const how = await idLookUpOf(sync, mapping);
  const values = how === null ? [] : [...new Set(ids)].flatMap(how.values);
  if (how === null || values.length === 0)
    return { page: NO_ROWS, results: [], certain: how?.certain ?? false, unnamed: 0 };
  const found = await readRowsByValues(sync.source, mapping.plan, how.columns, values);
  const wanted = new Set(ids);
  const rows: SourceRow[] = [];
  const results: MapResult[] = [];
  let unnamed = 0;
  const map = found.rows.length === 0 ? null : mapping.mapper(found.columns);
  for (const row of found.rows) {
    const result = map!(row);
    if (result.externalId === null) unnamed++;
    if (result.externalId === null || !wanted.has(result.externalId)) continue;
    rows.push(row);
    results.push(result);
  }
  return { page: { columns: found.columns, rows }, results, certain: how.certain, unnamed };
}
