/** Assembles tables from the flat rows of text that a dialect's catalogue queries return. */
import type { CatalogColumn, CatalogForeignKey, CatalogIndex, SourceTable } from '../domain/source/source-catalog.js';
import type { SourceRow, SourceType } from '../domain/source/source.js';
import { groupBy } from '../domain/values/group-by.js';
import { tableName } from './table-name.js';

/**
 * The rows of each query, with the columns that are named here, in this order; all begin with schema and table. `t` is
 * true, anything else false. Columns and index entries come in their own order.
 */
export interface CatalogRows {
  /** schema, table, kind, comment, estimated rows, readable, writes (with commas between), needs its schema's name */
  readonly tables: readonly SourceRow[];
  /** schema, table, column, type, nullable, default, generated, comment, what else decides the kind */
  readonly columns: readonly SourceRow[];
  /** schema, table, index, unique among all rows that SELECT returns, primary, column (null: an expression) */
  readonly indexes: readonly SourceRow[];
  /** schema, table, constraint, column, parent's schema (null if its name is enough), parent's table, parent's column */
  readonly foreignKeys: readonly SourceRow[];
}

const isTrue = (text: string | null | undefined): boolean => text === 't';

/** The tables of the rows, in their order; `kindOf` is {@link Dialect.kindOf}. */
export function tablesOf(
  rows: CatalogRows,
  kindOf: (databaseType: string, hint: string | null) => SourceType,
): SourceTable[] {
  const ofTable = (table: SourceRow, others: ReadonlyMap<string, readonly SourceRow[]>): readonly SourceRow[] =>
    others.get(idOf(table[0]!, table[1]!)) ?? [];
  const columns = byTable(rows.columns);
  const indexes = byTable(rows.indexes);
  const foreignKeys = byTable(rows.foreignKeys);
  return rows.tables.map((row): SourceTable => {
    const [schema, name, kind, comment, estimatedRows, readable, writes] = row;
    const own = ofTable(row, columns).map((column) => catalogColumn(column, kindOf));
    const required = new Set(own.filter((column) => !column.nullable).map((column) => column.name));
    const ownIndexes = [...groups(ofTable(row, indexes))];
    const columnsOf = (index: readonly SourceRow[]): (string | null)[] => index.map((entry) => entry[5] ?? null);
    const primaryKey = ownIndexes.filter((i) => isTrue(i[0]![4])).flatMap(columnsOf) as string[];
    const unique = ownIndexes.filter(([first]) => isTrue(first![3]));
    const uniqueKeys = [...unique.filter((i) => isTrue(i[0]![4])), ...unique.filter((i) => !isTrue(i[0]![4]))]
      .map(columnsOf)
      .filter((key): key is string[] => key.every((name) => name !== null && required.has(name)));
    return {
      table: writtenName(row),
      schema: schema ?? null,
      name: name!,
      kind: kind === 'view' ? 'view' : 'table',
      comment: comment ?? null,
      estimatedRows: estimatedRows == null ? null : Number(estimatedRows),
      columns: own,
      primaryKey,
      uniqueKeys,
      foreignKeys: [...groups(ofTable(row, foreignKeys))].map(foreignKey),
      indexes: ownIndexes.map((index): CatalogIndex => ({
        name: index[0]![2]!,
        columns: columnsOf(index),
        unique: isTrue(index[0]![3]),
      })),
      readable: isTrue(readable),
      writes: writes == null || writes === '' ? [] : writes.split(','),
    };
  });
}

const idOf = (schema: string | null, table: string): string => JSON.stringify([schema, table]);

const writtenName = ([schema, name, , , , , , qualified]: SourceRow): string =>
  isTrue(qualified) && schema != null ? tableName(schema, name!) : tableName(name!);

function catalogColumn(row: SourceRow, kindOf: (type: string, hint: string | null) => SourceType): CatalogColumn {
  const [, , name, databaseType, nullable, initial, generated, comment, hint] = row;
  return {
    name: name!,
    type: kindOf(databaseType!, hint ?? null),
    databaseType: databaseType!,
    nullable: isTrue(nullable),
    default: initial ?? null,
    generated: isTrue(generated),
    comment: comment ?? null,
  };
}

function foreignKey(rows: readonly SourceRow[]): CatalogForeignKey {
  const [, , name, , schema, table] = rows[0]!;
  return {
    name: name!,
    columns: rows.map((row) => row[3]!),
    table: tableName(...(schema == null ? [] : [schema]), table!),
    parentColumns: rows.map((row) => row[6]!),
  };
}

const byTable = (rows: readonly SourceRow[]): Map<string, SourceRow[]> => groupBy(rows, (r) => idOf(r[0]!, r[1]!));
/** Rows of one index or constraint, by its name. */
const groups = (rows: readonly SourceRow[]): Iterable<readonly SourceRow[]> => groupBy(rows, (r) => r[2]!).values();
