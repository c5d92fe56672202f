/** Refuses rows of one statement that share their key: they are different rows, of which any could win. */
import type { ReadPlan, Rows } from '../domain/source/source.js';
import type { ColumnType, Dialect } from './dialect.js';
import { keyUnusable, type PreparedPlan } from './prepared-plans.js';

/**
 * Throws `source_key_unusable` if two of the rows, which one statement has given, share their key. If the database may give a row
 * twice that moves meanwhile, only rows that share the cursor, too, are two.
 */
export function refuseSharedKeys(
  { repeatsMovedRows = false }: Dialect,
  plan: ReadPlan,
  { key, cursor }: Pick<PreparedPlan, 'key' | 'cursor'>,
  rows: Rows,
): void {
  const compared = (repeatsMovedRows && cursor !== null ? [...key, cursor] : key).map(({ name, type }) => ({
    index: plan.columns.indexOf(name),
    type,
  }));
  const [first, ...others] = compared as [(typeof compared)[number], ...typeof compared];
  const keyAt = (row: number): string | null => {
    const value = valuesOf(rows, row);
    const text = comparable(first.type, value(first.index));
    if (others.length === 0) return text;
    return JSON.stringify([text, ...others.map(({ type, index }) => comparable(type, value(index)))]);
  };
  const seen = new Set<string | null>();
  for (let row = 0; row < rows.length; row++) seen.add(keyAt(row));
  if (seen.size === rows.length) return;
  const names = plan.key.join(', ');
  throw keyUnusable(
    plan,
    `several rows share it; SELECT ${names}, count(*) ... GROUP BY ${names} HAVING count(*) > 1 finds them`,
  );
}

/** The values of a row by column; one that is still bytes is not decoded as a whole. */
function valuesOf(rows: Rows, index: number): (column: number) => string | null {
  const row = rows.inBytes?.(index);
  if (row !== undefined) return (column) => row.text(column);
  const texts = rows.at(index)!;
  return (column) => texts[column]!;
}

/**
 * A text that is the same for values that compare as equal in the database, although their texts may differ: 1.0 and 1.00, 0 and -0.
 * Types whose equal values differ in other ways have a {@link ColumnType.tieBreak}.
 */
function comparable({ type }: ColumnType, value: string | null): string | null {
  if (value === null) return null;
  // In SQLite, a column of floats may contain any text.
  if (type === 'float') return Number.isNaN(Number(value)) ? value : String(Number(value));
  // As a number, a decimal would lose digits.
  return type === 'decimal' ? withoutFinalZeros(value) : value;
}

const withoutFinalZeros = (decimal: string): string => decimal.replace(/\.0*$|(\.\d*[1-9])0+$/, '$1');
