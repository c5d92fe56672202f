/** What the codes of databases and of Node mean, for people who do not know them by heart. */

/** By SQLSTATE, which PostgreSQL, MySQL and MariaDB share as far as they keep to the standard; the first that begins so. */
const BY_STATE: readonly (readonly [prefix: string, words: string])[] = [
  ['3D000', 'there is no such database'],
  ['28', 'the server refuses the account or its password'],
  ['42501', 'the account may not do this'],
  ['42P01', 'there is no such table'],
  ['42S02', 'there is no such table'],
  ['42703', 'there is no such column'],
  ['42S22', 'there is no such column'],
  ['3F000', 'there is no such schema'],
  ['42601', 'the SQL of the query is wrong'],
  ['25006', 'the query writes'],
  ['57014', 'it took longer than the statement timeout'],
  ['53300', 'the server takes no more connections'],
];

/** MySQL's and MariaDB's own numbers, where the SQLSTATE is a general one. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  1044: 'the account may not use this database',
  1049: 'there is no such database',
  1064: 'the SQL of the query is wrong',
  1142: 'the account may not do this',
  1143: 'the account may not do this',
  1205: 'a lock was not given in time',
  1969: 'it took longer than the statement timeout',
  3024: 'it took longer than the statement timeout',
};

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this host and port',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'the connection was cut',
  HANDSHAKE_NO_SSL_SUPPORT: 'the server has no TLS',
  SQLITE_NOTADB: 'the file is no SQLite database',
  SQLITE_CANTOPEN: 'there is no such file, or it may not be read',
};

/** `SQLSTATE 28P01` as `SQLSTATE 28P01: the server refuses the account or its password`; as it is where nothing is known. */
export function inWords(shown: string): string {
  const number = /^error (\d+)/.exec(shown)?.[1];
  const state = /SQLSTATE (\w{5})/.exec(shown)?.[1];
  const words =
    BY_CODE[shown] ??
    (number === undefined ? undefined : BY_NUMBER[number]) ??
    BY_STATE.find(([prefix]) => state?.startsWith(prefix))?.[1];
  return words === undefined ? shown : `${shown}: ${words}`;
}
