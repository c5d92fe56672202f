/** Reads `changes.tables` of a mapping: which tables' changes lead to which of its rows. */
import type { Relation } from '../../domain/source/source.js';
import type { ChangedBy } from '../../domain/sync/sync.js';

type ColumnsFile = string | string[] | Record<string, string>;

/** The form that `mapping.schema.json` has checked, by the names of the tables. */
export type ChangedByFile = Record<string, string | string[] | { columns: ColumnsFile; through?: Relation }>;

/** What a mapping's rows are changed by: what the file names, or else the table that the mapping reads. */
export function readChangedBy(
  tables: ChangedByFile | undefined,
  relation: Relation,
  key: readonly string[],
): ChangedBy[] {
  if (tables !== undefined)
    return Object.entries(tables).map(([table, value]) => {
      const { columns, through = null } =
        typeof value === 'string' || Array.isArray(value) ? { columns: value } : value;
      return { table, columns: readColumns(columns), through };
    });
  return 'table' in relation ? [{ table: relation.table, columns: readColumns([...key]), through: null }] : [];
}

/** Columns without a name beside them are compared with what has the same name. */
function readColumns(columns: ColumnsFile): ChangedBy['columns'] {
  if (typeof columns === 'string') return [{ name: columns, equals: columns }];
  if (Array.isArray(columns)) return columns.map((name) => ({ name, equals: name }));
  return Object.entries(columns).map(([name, equals]) => ({ name, equals }));
}
