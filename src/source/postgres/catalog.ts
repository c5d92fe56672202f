/** Queries of PostgreSQL's catalogue, whose columns are those of {@link CatalogRows}; without system schemas, our own and partitions. */
import { FUNCTION_SCHEMA } from './changes/slot-functions.js';
import { MAY_SEE_TRANSACTIONS, TRANSACTIONS_ARE_HIDDEN } from './high-watermark.js';

/** version, account, clock, time zone, standby, whether the account may see other sessions' transactions, whether some of these are hidden */
export const SERVER_SQL = `
  SELECT current_setting('server_version'), current_user,
    to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    (SELECT coalesce(reset_val, setting) FROM pg_settings WHERE name = 'TimeZone'),
    pg_is_in_recovery(),
    ${MAY_SEE_TRANSACTIONS},
    ${TRANSACTIONS_ARE_HIDDEN}`;

/** The relations of a query; $1 is a JSON list of bare table names, or null for all. */
const RELATIONS = `
  WITH rel AS (
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
      AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', '${FUNCTION_SCHEMA}')
      AND n.nspname NOT LIKE 'pg\\_temp\\_%' AND n.nspname NOT LIKE 'pg\\_toast\\_temp\\_%'
      AND has_schema_privilege(n.oid, 'USAGE')
      AND (CAST($1::text AS json) IS NULL
        OR c.relname IN (SELECT json_array_elements_text(CAST($1::text AS json)))))`;

export const TABLES_SQL = `${RELATIONS}
  SELECT nspname, relname, CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
    obj_description(oid, 'pg_class'),
    -- A partitioned table has no count of its own before it is analysed: its partitions have.
    (SELECT CASE WHEN sum(greatest(c.reltuples, 0)) > 0 OR rel.reltuples = 0 THEN sum(greatest(c.reltuples, 0))::bigint END
     FROM pg_class c WHERE relkind <> 'v' AND (c.oid = rel.oid OR rel.relkind = 'p' AND rel.reltuples <= 0
       AND c.oid IN (SELECT relid FROM pg_partition_tree(rel.oid) WHERE isleaf))),
    has_table_privilege(oid, 'SELECT')
      OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = rel.oid AND attnum > 0 AND NOT attisdropped
        AND NOT has_column_privilege(rel.oid, attnum, 'SELECT')),
    (SELECT string_agg(p, ',') FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p WHERE has_table_privilege(oid, p)),
    NOT pg_table_is_visible(oid)
  FROM rel ORDER BY nspname, relname`;

/**
 * The base type of a domain, or of a domain over a domain: rows arrive as values of that type. A column of a view may be
 * NULL through an outer join, whatever its domain says.
 */
const BASE_TYPE = `
    WITH RECURSIVE base AS (
      SELECT t.oid, t.typtype, t.typbasetype, atttypmod AS modifier, t.typtypmod, t.typnotnull AS required, 0 AS depth
      FROM pg_type t WHERE t.oid = atttypid
      UNION ALL
      SELECT t.oid, t.typtype, t.typbasetype, base.typtypmod, t.typtypmod, required OR t.typnotnull, depth + 1
      FROM base JOIN pg_type t ON t.oid = base.typbasetype WHERE base.typtype = 'd')
    SELECT oid, typtype, modifier, required AND relkind NOT IN ('v', 'm') AS required FROM base ORDER BY depth DESC LIMIT 1`;

export const COLUMNS_SQL = `${RELATIONS}
  SELECT nspname, relname, attname, format_type(b.oid, b.modifier), NOT attnotnull AND NOT b.required,
    CASE WHEN attgenerated = '' THEN pg_get_expr(adbin, adrelid) END, attgenerated <> '', col_description(rel.oid, attnum),
    CASE WHEN b.typtype = 'e' THEN 'enum' END
  FROM rel JOIN pg_attribute a ON attrelid = rel.oid AND attnum > 0 AND NOT attisdropped
    CROSS JOIN LATERAL (${BASE_TYPE}) b
    LEFT JOIN pg_attrdef ON adrelid = rel.oid AND adnum = attnum
  ORDER BY nspname, relname, attnum`;

/** Whether SELECT also returns the rows of tables that inherit from this one, which its indexes do not cover. */
const HAS_CHILDREN = `rel.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = rel.oid)`;

/** Without the columns that an index merely INCLUDEs: they are not part of its key. */
export const INDEXES_SQL = `${RELATIONS}
  SELECT nspname, rel.relname, i.relname, indisunique AND NOT (${HAS_CHILDREN}), indisprimary, attname
  FROM rel JOIN pg_index x ON indrelid = rel.oid AND indisvalid AND indpred IS NULL
    JOIN pg_class i ON i.oid = indexrelid
    CROSS JOIN LATERAL unnest(indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
    LEFT JOIN pg_attribute a ON a.attrelid = rel.oid AND a.attnum = k.attnum
  WHERE place <= indnkeyatts
  ORDER BY nspname, rel.relname, indisprimary DESC, i.relname, place`;

export const FOREIGN_KEYS_SQL = `${RELATIONS}
  SELECT rel.nspname, rel.relname, conname, child.attname,
    CASE WHEN NOT pg_table_is_visible(parent.oid) THEN parent_schema.nspname END, parent.relname, parent_column.attname
  FROM rel JOIN pg_constraint x ON conrelid = rel.oid AND contype = 'f' AND conparentid = 0
    JOIN pg_class parent ON parent.oid = confrelid
    JOIN pg_namespace parent_schema ON parent_schema.oid = parent.relnamespace
    CROSS JOIN LATERAL unnest(conkey, confkey) WITH ORDINALITY AS k(attnum, parent_attnum, place)
    JOIN pg_attribute child ON child.attrelid = conrelid AND child.attnum = k.attnum
    JOIN pg_attribute parent_column ON parent_column.attrelid = confrelid AND parent_column.attnum = k.parent_attnum
  ORDER BY rel.nspname, rel.relname, conname, place`;
