/** How triggers of MySQL and MariaDB write values of keys, whatever session they run in. */
import type { SourceType } from '../../../domain/source/source.js';
import type { KeyTextRules } from '../../changes/key-texts.js';
import type { ColumnType } from '../../dialect.js';

/** A way to write values of a type. */
interface Writing {
  /** The expression of SQL. */
  readonly sql: (value: string) => string;
  /** From what it gives to what a page has. */
  readonly read: (recorded: string) => string;
}

const same = (recorded: string): string => recorded;
/** ZEROFILL pads a number's text, but not that of an expression. */
const NUMBER: Writing = { sql: (value) => `CAST(${value} + 0 AS CHAR)`, read: same };
/** A trigger keeps the SQL mode of whoever has made it, which may be to pad such values. */
const CHAR: Writing = { sql: (value) => `RTRIM(CONVERT(${value} USING utf8mb4))`, read: same };
const PLAIN: Writing = { sql: (value) => `CAST(${value} AS CHAR)`, read: same };

const WRITINGS: Readonly<Partial<Record<SourceType, Writing>>> = {
  integer: NUMBER,
  decimal: NUMBER,
  text: { sql: (value) => `CONVERT(${value} USING utf8mb4)`, read: same },
  uuid: PLAIN,
  date: PLAIN,
  time: PLAIN,
  timestamp: PLAIN,
  bytes: { sql: (value) => `HEX(${value})`, read: (digits) => `\\x${digits.toLowerCase()}` },
};

/** null for a type whose text depends on the session, or which no key should have. */
export const writingOf = ({ type, databaseType }: ColumnType): Writing | null =>
  databaseType.startsWith('bit(') ? null : databaseType.startsWith('char(') ? CHAR : (WRITINGS[type] ?? null);

/** How MySQL and MariaDB have keys. */
export const MYSQL_KEYS: KeyTextRules = {
  columnsSql: ({ table, key }) =>
    `SELECT ${key.map(quoted).join(', ')} FROM ${quotedTable(table.schema, table.name)} LIMIT 0`,
  textOf: (type) => writingOf(type)?.read ?? null,
};

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Quotes the name of a table with its database. */
export function quotedTable(schema: string | null, name: string): string {
  return schema === null ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}
