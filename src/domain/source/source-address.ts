/** Addresses of databases: URLs, whose scheme names the kind of database. */

/** The schemes of addresses, with the dialect that reads each. */
export const SOURCE_SCHEMES = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
  'sqlite:': 'sqlite',
  'sqlserver:': 'mssql',
  'mssql:': 'mssql',
} as const;
export type SourceDialect = (typeof SOURCE_SCHEMES)[keyof typeof SOURCE_SCHEMES];

/** What an address may look like, for messages. */
export const SOURCE_ADDRESSES =
  'postgres://user@host:5432/database, mysql://user@host:3306/database, mariadb://user@host:3306/database, sqlserver://user@host:1433/database or sqlite:path/to/file.db';

/** The kind of database of an address; undefined if its scheme is none of {@link SOURCE_SCHEMES}. */
export function dialectOf(address: string): SourceDialect | undefined {
  const scheme = /^[a-z]+:/i.exec(address)?.[0].toLowerCase();
  return Object.entries(SOURCE_SCHEMES).find(([known]) => known === scheme)?.[1];
}

/**
 * The path in an SQLite address, as it is written: `sqlite:shop.db`, `sqlite:./shop.db`, `sqlite:/data/shop.db` or
 * `sqlite:///data/shop.db`. Undefined if the address is of another kind, or names no file.
 */
export function sqliteFileOf(address: string): string | undefined {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/i.exec(address)?.[1];
  return file === ':memory:' || file?.startsWith('//') === true ? undefined : file;
}

/**
 * Whether PostgreSQL's driver can read an address. Unlike `URL`, it accepts blanks, and an address without a host before the
 * path.
 */
export const isReadablePostgresAddress = (text: string): boolean =>
  URL.canParse(text.replaceAll(' ', '%20').replace('@/', '@host/'));
