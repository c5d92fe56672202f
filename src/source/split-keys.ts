/**
 * Even steps between the smallest and the largest key, where the key is one whole number: two index look-ups
 * instead of a scan. Gaps make ranges uneven, never wrong. Other keys are read as one range.
 */
import type { SourceTable } from '../domain/source-catalog.js';
import type { KeyRange, ReadPlan } from '../domain/source.js';
import type { Dialect, Query, RawPage } from './dialect.js';
import { fromClause, type Reading } from './keyset.js';

interface Asking {
  readonly dialect: Dialect;
  readonly ask: (what: string, query: Query) => Promise<RawPage>;
  readonly tables: (names: readonly string[]) => Promise<readonly SourceTable[]>;
}

const WHOLE: readonly KeyRange[] = [{ after: null, through: null }];

export async function splitKeys(
  { dialect, ask, tables }: Asking,
  { relation }: ReadPlan,
  reading: Reading,
  rows: number,
): Promise<readonly KeyRange[]> {
  const [key, ...others] = reading.key;
  if (key === undefined || others.length > 0 || key.type.type !== 'integer' || !('table' in relation)) return WHOLE;
  const name = `q.${dialect.quote(key.name)}`;
  const bounds = await ask(`finding the bounds of ${relation.table}`, {
    sql: `SELECT min(${name}), max(${name}) FROM ${fromClause(dialect, relation)}`,
    bindings: [],
  });
  const [low, high] = bounds.rows[0]!;
  if (low == null || high == null) return WHOLE;
  const first = BigInt(low);
  const span = BigInt(high) - first + 1n;
  const [table] = await tables([relation.table]);
  const count = BigInt(Math.round(table?.estimatedRows ?? 0));
  const parts = count / BigInt(rows) < span ? count / BigInt(rows) : span;
  if (parts < 2n) return WHOLE;
  const steps = Array.from({ length: Number(parts) - 1 }, (_, i) =>
    String(first - 1n + (span * BigInt(i + 1)) / parts),
  );
  return [...steps, null].map((step, i) => ({
    after: i === 0 ? null : [steps[i - 1]!],
    through: step === null ? null : [step],
  }));
}
