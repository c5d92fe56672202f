/** What changed in a mapping's columns since a run last accepted them. */
import type { SourceColumn } from './source-column.js';

export interface ColumnDrift {
  /** Changes of columns that the mapping reads: it must not run before somebody has looked. */
  readonly stops: readonly string[];
  /** Changes that do not concern it. */
  readonly notes: readonly string[];
}

/**
 * `before` is null where nothing is known of earlier. A type counts as another one where its kind is another: a text that
 * may be longer, or a number with more digits, arrives as exactly as before.
 */
export function columnDrift(
  before: readonly SourceColumn[] | null,
  now: readonly SourceColumn[],
  used: readonly string[],
): ColumnDrift {
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
        `${column.name} was ${column.databaseType}, and is ${current.databaseType} now`,
      );
  }
  if (before !== null)
    for (const { name, databaseType } of now)
      if (!had.has(name)) notes.push(`the column ${name} (${databaseType}) is new`);
  return { stops, notes };
}
