/** Queries of SQLite's catalogue. */
import type { CatalogRows } from '../tables-from-catalog.js';
import type { Session } from '../dialect.js';

const flag = (condition: string): string => `CASE WHEN ${condition} THEN 't' ELSE 'f' END`;
/** Whether a column is an alias of the rowid: such a key has no index and is never NULL. */
const IS_ROWID = `c.pk = 1 AND upper(c.type) = 'INTEGER' AND x.wr = 0
  AND (SELECT count(*) FROM pragma_table_info(x.name) p WHERE p.pk > 0) = 1`;

/** See {@link CatalogRows} for the columns of each query. */
export async function sqliteCatalog(session: Session, names: readonly string[] | null): Promise<CatalogRows> {
  const given = names === null ? null : JSON.stringify(names);
  // Without SQLite's own tables and the shadow tables of full-text indexes.
  const list = `WITH x AS (
    SELECT l.name, l.type, l.wr FROM pragma_table_list l, (SELECT ? AS names)
    WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND (names IS NULL OR l.name IN (SELECT value FROM json_each(names))))`;
  const ask = async (sql: string) => (await session.run({ sql: `${list} ${sql}`, bindings: [given] })).rows;
  return {
    tables: await ask(`
      SELECT NULL, x.name, CASE WHEN x.type = 'view' THEN 'view' ELSE 'table' END, NULL, NULL, 't', '', 'f'
      FROM x ORDER BY x.name`),
    columns: await ask(`
      SELECT NULL, x.name, c.name, c.type, ${flag(`c."notnull" = 0 AND NOT (${IS_ROWID}) AND NOT (x.wr = 1 AND c.pk > 0)`)}, c.dflt_value,
        ${flag('c.hidden IN (2, 3)')}, NULL, NULL
      FROM x, pragma_table_xinfo(x.name) c WHERE c.hidden <> 1 ORDER BY x.name, c.cid`),
    indexes: await ask(`
      SELECT NULL, x.name, 'rowid', 't', 't', c.name, '' AS first, 0 AS place FROM x, pragma_table_info(x.name) c WHERE ${IS_ROWID}
      UNION ALL
      SELECT NULL, x.name, i.name, ${flag(`i."unique" AND ${ORDERS_AS_THE_COLUMN}`)}, ${flag("i.origin = 'pk'")}, k.name,
        CASE WHEN i.origin = 'pk' THEN '' ELSE i.name END, k.seqno
      FROM x, pragma_index_list(x.name) i, pragma_index_xinfo(i.name) k
      WHERE i.partial = 0 AND k.key = 1
      ORDER BY 2, 7, 8`),
    foreignKeys: await ask(`
      SELECT NULL, x.name, 'key ' || f.id, f."from", NULL, f."table",
        coalesce(f."to", (SELECT p.name FROM pragma_table_info(f."table") p WHERE p.pk = f.seq + 1))
      FROM x, pragma_foreign_key_list(x.name) f ORDER BY x.name, f.id, f.seq`),
  };
}

/**
 * Whether values that differ in an index also differ for the column: both may name a collation, and one that ignores case is satisfied
 * with fewer differences. CREATE INDEX may name another one than the column; a constraint of a table in which all ignore case cannot.
 */
const ORDERS_AS_THE_COLUMN = `NOT EXISTS (
  SELECT 1 FROM sqlite_schema s WHERE s.name = x.name
    AND CASE WHEN i.origin = 'c' THEN s.sql ELSE replace(upper(s.sql), 'COLLATE NOCASE', '') END LIKE '%COLLATE%')`;
