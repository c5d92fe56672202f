/** Decides which foreign keys become references: those that lead to the external id of another mapping. */
import type { SourceTable } from '../domain/source/source-catalog.js';
import { textForm } from '../mapping/encode/value-kind.js';
import { cycleOf } from '../mapping/order/stages.js';

/** A column that refers to another table; tables are named as mappings write them. */
export interface DraftReference {
  /** The table that has the column. */
  readonly from: string;
  readonly column: string;
  readonly to: string;
}

/**
 * The columns that identify a row: the primary key (which may be NULL in SQLite), otherwise a unique key, otherwise
 * none.
 */
export const keyOf = ({ primaryKey, uniqueKeys }: SourceTable): readonly string[] =>
  primaryKey.length > 0 ? primaryKey : (uniqueKeys[0] ?? []);

/** Whether the table's key can become an external id: every column has a text form, alone or in a template. */
export function isMappable(table: SourceTable): boolean {
  const key = keyOf(table);
  const hasText = (name: string): boolean => {
    const column = table.columns.find((c) => c.name === name);
    return column !== undefined && textForm(column.type) !== undefined;
  };
  return key.length > 0 && key.every(hasText) && (key.length === 1 || !key.some((name) => /[{}]/.test(name)));
}

/**
 * The references that mappings can make among these tables.
 *
 * In a cycle in which every column is NOT NULL, no record could be sent first, so one reference of it is given up and
 * reported in `circular`.
 */
export function referencesAmong(tables: readonly SourceTable[]): {
  readonly kept: readonly DraftReference[];
  readonly circular: readonly DraftReference[];
} {
  const byName = new Map(tables.map((table) => [table.table, table]));
  let kept = tables.flatMap((table) =>
    table.foreignKeys.flatMap(({ columns, table: to, parentColumns }): DraftReference[] => {
      const parent = byName.get(to);
      // A reference contains the parent's external id, so its foreign key must lead to the key that the id is made of.
      if (parent === undefined || columns.length !== 1 || keyOf(parent).join() !== parentColumns.join()) return [];
      return [{ from: table.table, column: columns[0]!, to }];
    }),
  );
  kept = kept.filter((r, i) => kept.findIndex((o) => o.from === r.from && o.column === r.column) === i);
  const circular: DraftReference[] = [];
  const nullable = ({ from, column }: DraftReference): boolean =>
    byName.get(from)!.columns.some((c) => c.name === column && c.nullable);
  while (true) {
    const nodes = tables.map(({ table }) => ({
      name: table,
      refs: kept.filter((r) => r.from === table && !nullable(r)).map((r) => r.to),
    }));
    const cycle = cycleOf(nodes);
    if (cycle === null) return { kept, circular };
    const onIt = (r: DraftReference): boolean => cycle.some((name, i) => name === r.from && cycle[i + 1] === r.to);
    const given = kept.find((r) => !nullable(r) && onIt(r))!;
    circular.push(given);
    kept = kept.filter((r) => r !== given);
  }
}
