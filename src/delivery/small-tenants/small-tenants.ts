/** Which tenants have so few new rows that these need not wait for the rows of others. */
import type { ValueCount } from '../../domain/source/source.js';

/** A tenant with more new rows in a mapping waits for its turn. */
const ROWS_OF_SMALL_TENANT = 1_000;

/** Most rows of a mapping that are delivered ahead of their turn: they are read once more when it comes. */
const EARLY_ROWS = 10_000;

/** The small tenants as the source names them, those with the fewest rows first; rows without a tenant have none. */
export function smallTenants(counts: readonly ValueCount[]): string[] {
  const rising = [...counts].sort((a, b) => a.rows - b.rows);
  const small: string[] = [];
  let early = 0;
  for (const { value, rows } of rising) {
    early += rows;
    if (rows > ROWS_OF_SMALL_TENANT || early > EARLY_ROWS) break;
    if (value !== null) small.push(value);
  }
  return small;
}
