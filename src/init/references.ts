/** Which columns become references: those of foreign keys that lead to another mapping's external id. */
import type { SourceTable } from '../domain/source-catalog.js';
import { textForm } from '../mapping/kinds.js';
import { cycleOf } from '../mapping/stages.js';

export interface DraftReference {
  /** Tables as mappings write them. */
  readonly from: string;
  readonly column: string;
  readonly to: string;
}

/** What names a row of the table: its primary key (which SQLite lets be NULL), or else a unique key; empty without one. */
export const keyOf = ({ primaryKey, uniqueKeys }: SourceTable): readonly string[] =>
  primaryKey.length > 0 ? primaryKey : (uniqueKeys[0] ?? []);

/** Whether its key can become an external id: it has a text form, alone or in a template. */
export function isMappable(table: SourceTable): boolean {
  const key = keyOf(table);
  const hasText = (name: string): boolean => {
    const column = table.columns.find((c) => c.name === name);
    return column !== undefined && textForm(column.type) !== undefined;
  };
  return key.length > 0 && key.every(hasText) && (key.length === 1 || !key.some((name) => /[{}]/.test(name)));
}

/**
 * The references that mappings can make. Of a circle in which every column is NOT NULL one is given up: no record on it
 * could be sent first.
 */
export function referencesAmong(tables: readonly SourceTable[]): {
  readonly kept: readonly DraftReference[];
  readonly circular: readonly DraftReference[];
} {
  const byName = new Map(tables.map((table) => [table.table, table]));
  let kept = tables.flatMap((table) =>
    table.foreignKeys.flatMap(({ columns, table: to, parentColumns }): DraftReference[] => {
      const parent = byName.get(to);
      // A reference names its parent by the external id, which is made of the parent's key.
      if (parent === undefined || columns.length !== 1 || keyOf(parent).join() !== parentColumns.join()) return [];
      return [{ from: table.table, column: columns[0]!, to }];
    }),
  );
  kept = kept.filter((r, i) => kept.findIndex((o) => o.from === r.from && o.column === r.column) === i);
  const circular: DraftReference[] = [];
  const nullable = ({ from, column }: DraftReference): boolean =>
    byName.get(from)!.columns.some((c) => c.name === column && c.nullable);
  for (;;) {
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
