/** Whether a database takes two texts of a column for the same value. */
import type { ColumnType } from './dialect.js';

/**
 * Whether two values compare as equal in the database, although their texts may differ: 1.0 and 1.00, 0 and -0. Types
 * whose equal values differ in other ways have a {@link ColumnType.tieBreak}.
 */
export function areEqualInDatabase(
  { type }: Pick<ColumnType, 'type'>,
  one: string | null,
  other: string | null,
): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  if (type === 'float') return Number(one) === Number(other);
  // As a number, a decimal would lose digits.
  return type === 'decimal' && withoutFinalZeros(one) === withoutFinalZeros(other);
}

const withoutFinalZeros = (decimal: string): string => decimal.replace(/\.0*$|(\.\d*[1-9])0+$/, '$1');
