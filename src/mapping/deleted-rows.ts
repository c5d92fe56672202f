/** Which rows are deleted, by the column that says so. */
import type { SourceRow, SourceType } from '../domain/source.js';
import type { DeletesSpec } from '../domain/sync.js';
import type { PlacedColumn } from './field-plan.js';

/** Types of which a column says by itself that its row is deleted: by true, or by when that was. */
export const saysItself = (type: SourceType): boolean =>
  type === 'boolean' || type === 'timestamptz' || type === 'timestamp' || type === 'date';

/** null where no column says it. */
export function deletedRows(
  deletes: DeletesSpec | null,
  placed: (name: string) => PlacedColumn,
): ((row: SourceRow) => boolean) | null {
  if (deletes === null || deletes.column === null) return null;
  const { index, column } = placed(deletes.column);
  const { values } = deletes;
  if (values !== null) {
    const meant = new Set<string | null | undefined>(values);
    return (row) => meant.has(row[index]);
  }
  return column.type === 'boolean' ? (row) => row[index] === 't' : (row) => row[index] != null;
}
