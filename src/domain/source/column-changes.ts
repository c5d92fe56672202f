/** Schema drift: what changed in a mapping's columns since a run last accepted them. */
import type { SourceColumn } from './source-column.js';

/** Changes as sentences without the name of the table. */
export interface ColumnChanges {
  /** Changes of columns that the mapping reads: it must not run until a person has reviewed them. */
  readonly stops: readonly string[];
  /** Changes that do not concern it. */
  readonly notes: readonly string[];
}

/**
 * What changed. `before` is null if no earlier columns are known; `used` are the columns that the mapping reads. Only a
 * change of a type's kind stops a mapping: longer texts or more digits arrive as exactly as before.
 */
export function compareColumns(
  before: readonly SourceColumn[] | null,
  now: readonly SourceColumn[],
  used: readonly string[],
): ColumnChanges {
  const had = new Map(before?.map((column) => [column.name, column]));
  const has = new Map(now.map((column) => [column.name, column]));
  const stops: string[] = [];
  const notes: string[] = [];
  for (const name of used) if (!has.has(name) && !had.has(name)) stops.push(`there is no column ${name}`);
  for (const column of had.values()) {
    const current = has.get(column.name);
    const list = used.includes(column.name) ? stops : notes;
    if (current === undefined) list.push(`the column ${column.name} (${column.databaseType}) is gone`);
    else if (current.databaseType !== column.databaseType)
      (current.type === column.type ? notes : list).push(
        `${column.name} was ${column.databaseType} and is now ${current.databaseType}`,
      );
  }
  if (before !== null)
    for (const { name, databaseType } of now)
      if (!had.has(name)) notes.push(`the column ${name} (${databaseType}) is new`);
  return { stops, notes };
}
