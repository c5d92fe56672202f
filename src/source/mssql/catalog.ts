/** Queries of SQL Server's catalogue. */
import type { CatalogRows } from '../tables-from-catalog.js';
import type { Session } from '../dialect.js';
import { textLiteral } from './literals.js';

const flag = (condition: string): string => `CASE WHEN ${condition} THEN N't' ELSE N'f' END`;
const comment = (object: string, column: string): string =>
  `(SELECT CONVERT(nvarchar(4000), e.value) FROM sys.extended_properties e
     WHERE e.class = 1 AND e.name = N'MS_Description' AND e.major_id = ${object} AND e.minor_id = ${column})`;
/** A type's name as a column definition writes it. */
const TYPE = `CASE
  WHEN ty.name IN ('decimal', 'numeric') THEN CONCAT(ty.name, '(', c.precision, ',', c.scale, ')')
  WHEN ty.name IN ('time', 'datetime2', 'datetimeoffset') THEN CONCAT(ty.name, '(', c.scale, ')')
  WHEN ty.name IN ('char', 'varchar', 'binary', 'varbinary') THEN CONCAT(ty.name, '(', IIF(c.max_length = -1, 'max', CONVERT(varchar(5), c.max_length)), ')')
  WHEN ty.name IN ('nchar', 'nvarchar') THEN CONCAT(ty.name, '(', IIF(c.max_length = -1, 'max', CONVERT(varchar(5), c.max_length / 2)), ')')
  WHEN ty.name = 'timestamp' THEN 'rowversion' ELSE ty.name END`;
const PRIVILEGES = ['INSERT', 'UPDATE', 'DELETE'] as const;
const has = (privilege: string): string =>
  `HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(o.name), 'OBJECT', '${privilege}') = 1`;

/** See {@link CatalogRows} for the columns of each query. */
export async function mssqlCatalog(session: Session, names: readonly string[] | null): Promise<CatalogRows> {
  const ask = async (sql: string) => (await session.run({ sql, bindings: [] })).rows;
  const named = names === null ? '' : `AND o.name IN (${['', ...names].map(textLiteral).join(', ')})`;
  const from = `sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id`;
  const where = `o.type IN ('U', 'V') AND o.is_ms_shipped = 0 ${named}`;
  return {
    tables: await ask(`
      SELECT s.name, o.name, IIF(o.type = 'V', N'view', N'table'), ${comment('o.object_id', '0')},
        (SELECT CONVERT(nvarchar(20), SUM(p.rows)) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)),
        ${flag(has('SELECT'))},
        STUFF(CONCAT(${PRIVILEGES.map((p) => `IIF(${has(p)}, N',${p}', N'')`).join(', ')}), 1, 1, N''),
        ${flag('s.name <> SCHEMA_NAME()')}
      FROM ${from} WHERE ${where} ORDER BY s.name, o.name`),
    columns: await ask(`
      SELECT s.name, o.name, c.name, ${TYPE}, ${flag('c.is_nullable = 1')}, d.definition, ${flag('c.is_computed = 1')},
        ${comment('o.object_id', 'c.column_id')}, NULL
      FROM ${from} JOIN sys.columns c ON c.object_id = o.object_id
        JOIN sys.types ty ON ty.user_type_id = COALESCE(NULLIF(c.system_type_id, 240), c.user_type_id)
        LEFT JOIN sys.default_constraints d ON d.object_id = c.default_object_id
      WHERE ${where} ORDER BY s.name, o.name, c.column_id`),
    // Filtered indexes cover only some rows; columnstore and XML indexes have no order.
    indexes: await ask(`
      SELECT s.name, o.name, i.name, ${flag('i.is_unique = 1')}, ${flag('i.is_primary_key = 1')}, c.name
      FROM ${from} JOIN sys.indexes i ON i.object_id = o.object_id AND i.type IN (1, 2) AND i.has_filter = 0 AND i.is_disabled = 0
        JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id AND ic.key_ordinal > 0
        JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id
      WHERE ${where} ORDER BY s.name, o.name, i.is_primary_key DESC, i.name, ic.key_ordinal`),
    foreignKeys: await ask(`
      SELECT s.name, o.name, f.name, c.name, NULLIF(ps.name, SCHEMA_NAME()), p.name, pc.name
      FROM ${from} JOIN sys.foreign_keys f ON f.parent_object_id = o.object_id
        JOIN sys.foreign_key_columns k ON k.constraint_object_id = f.object_id
        JOIN sys.columns c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id
        JOIN sys.objects p ON p.object_id = k.referenced_object_id JOIN sys.schemas ps ON ps.schema_id = p.schema_id
        JOIN sys.columns pc ON pc.object_id = k.referenced_object_id AND pc.column_id = k.referenced_column_id
      WHERE ${where} ORDER BY s.name, o.name, f.name, k.constraint_column_id`),
  };
}
