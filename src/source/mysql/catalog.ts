/** Queries of the catalogue of MySQL and MariaDB. */
import type { CatalogRows } from '../tables-from-catalog.js';
import type { Session } from '../dialect.js';
import { textLiteral } from './literals.js';

const flag = (condition: string): string => `IF(${condition}, 't', 'f')`;

/**
 * See {@link CatalogRows} for the columns of each query. A subquery for each row would read the whole catalogue as often:
 * MariaDB reads all of it unless schema and table are constants.
 */
export async function mysqlCatalog(session: Session, names: readonly string[] | null): Promise<CatalogRows> {
  const ask = async (sql: string) => (await session.run({ sql, bindings: [] })).rows;
  const named = names === null ? '' : `AND x.table_name IN (${['', ...names].map(textLiteral).join(', ')})`;
  const where = `x.table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') ${named}`;
  const [[version]] = (await ask('SELECT VERSION()')) as [[string]];
  // MariaDB's JSON is a LONGTEXT with a check of its own; MySQL's has its own type.
  const json = version.includes('MariaDB')
    ? {
        hint: 'j.hint',
        join: `LEFT JOIN (
            SELECT DISTINCT c.constraint_schema, c.table_name, c.check_clause, 'json' AS hint
            FROM information_schema.check_constraints c WHERE c.check_clause LIKE 'json_valid(%') j
          ON j.constraint_schema = x.table_schema AND j.table_name = x.table_name
            AND j.check_clause = CONCAT('json_valid(\`', x.column_name, '\`)')`,
      }
    : { hint: 'NULL', join: '' };
  return {
    tables: await ask(`
      SELECT x.table_schema, x.table_name, IF(x.table_type LIKE '%VIEW', 'view', 'table'),
        IF(x.table_type LIKE '%VIEW', NULL, NULLIF(x.table_comment, '')), x.table_rows,
        ${flag('p.total = p.readable')},
        CONCAT_WS(',', IF(p.insertable > 0, 'INSERT', NULL), IF(p.updatable > 0, 'UPDATE', NULL), ${DELETE_PRIVILEGE}),
        ${flag('NOT x.table_schema <=> DATABASE()')}
      FROM information_schema.tables x LEFT JOIN (
          SELECT x.table_schema, x.table_name, COUNT(*) AS total, ${columnsWith('select')} AS readable,
            ${columnsWith('insert')} AS insertable, ${columnsWith('update')} AS updatable
          FROM information_schema.columns x WHERE ${where} GROUP BY x.table_schema, x.table_name) p
        ON p.table_schema = x.table_schema AND p.table_name = x.table_name
      WHERE ${where} AND x.table_type NOT LIKE '%SEQUENCE%'
      ORDER BY x.table_schema, x.table_name`),
    columns: await ask(`
      SELECT x.table_schema, x.table_name, x.column_name, x.column_type, ${flag("x.is_nullable = 'YES'")},
        IF(x.column_default = 'NULL', NULL, x.column_default),
        ${flag("x.extra LIKE '%VIRTUAL GENERATED%' OR x.extra LIKE '%STORED GENERATED%' OR x.extra LIKE '%PERSISTENT%'")},
        NULLIF(x.column_comment, ''), ${json.hint}
      FROM information_schema.columns x ${json.join} WHERE ${where}
      ORDER BY x.table_schema, x.table_name, x.ordinal_position`),
    // A prefix of a column sorts as an expression would: not as the column does.
    indexes: await ask(`
      SELECT x.table_schema, x.table_name, x.index_name, ${flag('x.non_unique = 0')}, ${flag("x.index_name = 'PRIMARY'")},
        IF(x.sub_part IS NULL, x.column_name, NULL)
      FROM information_schema.statistics x WHERE ${where} AND x.index_type = 'BTREE'
      ORDER BY x.table_schema, x.table_name, x.index_name <> 'PRIMARY', x.index_name, x.seq_in_index`),
    foreignKeys: await ask(`
      SELECT x.table_schema, x.table_name, x.constraint_name, x.column_name,
        NULLIF(x.referenced_table_schema, DATABASE()), x.referenced_table_name, x.referenced_column_name
      FROM information_schema.key_column_usage x WHERE ${where} AND x.referenced_table_name IS NOT NULL
      ORDER BY x.table_schema, x.table_name, x.constraint_name, x.ordinal_position`),
  };
}

/** How many columns the account has a privilege on, also through roles. */
const columnsWith = (privilege: string): string => `SUM(FIND_IN_SET('${privilege}', x.privileges) > 0)`;

/** DELETE is granted on tables, never on columns. */
const GRANTEE = `CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')`;
const DELETE_PRIVILEGE = `(SELECT 'DELETE' FROM DUAL WHERE EXISTS (
    SELECT 1 FROM information_schema.user_privileges p WHERE p.grantee = ${GRANTEE} AND p.privilege_type = 'DELETE')
  OR EXISTS (SELECT 1 FROM information_schema.schema_privileges p WHERE p.grantee = ${GRANTEE}
    AND x.table_schema LIKE p.table_schema AND p.privilege_type = 'DELETE')
  OR EXISTS (SELECT 1 FROM information_schema.table_privileges p WHERE p.grantee = ${GRANTEE}
    AND p.table_schema = x.table_schema AND p.table_name = x.table_name AND p.privilege_type = 'DELETE'))`;
