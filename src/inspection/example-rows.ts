/** Reads rows of a mapping from which examples are made. */
import type { Source, SourceColumn } from '../domain/source/source.js';
import type { MappingSpec, TenantRule } from '../domain/sync/sync.js';
import type { ExampleRow } from '../mapping/check/run-examples.js';
import { readPlanOf } from '../mapping/compile/read-plan.js';
import { EVERYTHING } from '../reading/read-bounds.js';
import { inKeyOrder } from '../reading/reading-order.js';

/**
 * The first `limit` rows by key, with every column that the mapping reads. Without the cursor in the plan, no high
 * watermark is needed.
 */
export async function readExampleRows(
  source: Pick<Source, 'describe' | 'readPage'>,
  mapping: MappingSpec,
  tenant: TenantRule,
  limit: number,
): Promise<{ columns: readonly SourceColumn[]; rows: ExampleRow[] }> {
  const columns = await source.describe(mapping.relation);
  const plan = inKeyOrder(readPlanOf(mapping, tenant));
  const page = await source.readPage(plan, EVERYTHING, limit);
  const rows = Array.from(page.rows, (row) =>
    Object.fromEntries(plan.columns.map((name, i) => [name, row[i] ?? null])),
  );
  return { columns, rows };
}
