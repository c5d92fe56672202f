/** Splits a table by its key, so that several partitions of it can be read side by side. */
import type { KeyRange } from '../domain/source/source.js';
import type { ConnectedDatabase } from './connected-database.js';
import { fromClause, type KeysetPlan } from './keyset-query.js';

const WHOLE: readonly KeyRange[] = [{ after: null, through: null }];

/**
 * Even steps between the smallest and the largest key, about `rows` rows each, if the key is one whole number: two
 * index look-ups instead of a scan. Gaps in the numbers make the ranges uneven, never wrong. Other keys are one range.
 */
export async function splitKeys(
  database: ConnectedDatabase,
  { relation, key }: KeysetPlan,
  rows: number,
): Promise<readonly KeyRange[]> {
  const [column, ...others] = key;
  if (column === undefined || others.length > 0 || column.type.type !== 'integer' || !('table' in relation))
    return WHOLE;
  const name = `q.${database.dialect.quote(column.name)}`;
  const text = column.type.select ?? ((sql: string) => sql);
  const bounds = await database.ask(`finding the bounds of ${relation.table}`, {
    sql: `SELECT ${text(`min(${name})`)}, ${text(`max(${name})`)} FROM ${fromClause(database.dialect, relation)}`,
    bindings: [],
  });
  const [low, high] = bounds.rows[0]!;
  if (!isWholeNumber(low) || !isWholeNumber(high)) return WHOLE;
  const first = BigInt(low);
  const extent = BigInt(high) - first + 1n;
  const [table] = await database.tables([relation.table]);
  const count = BigInt(Math.round(table?.estimatedRows ?? 0));
  const parts = count / BigInt(rows) < extent ? count / BigInt(rows) : extent;
  if (parts < 2n) return WHOLE;
  const steps = Array.from({ length: Number(parts) - 1 }, (_, i) =>
    String(first - 1n + (extent * BigInt(i + 1)) / parts),
  );
  return [...steps, null].map((step, i) => ({
    after: i === 0 ? null : [steps[i - 1]!],
    through: step === null ? null : [step],
  }));
}

/** Not what an empty table gives, nor a text or a fraction: SQLite stores any value in a column of whole numbers. */
const isWholeNumber = (value: string | null | undefined): value is string => value != null && /^-?\d+$/.test(value);
