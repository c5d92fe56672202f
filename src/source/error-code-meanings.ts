/** Explains the error codes of databases and of Node in plain words. */

/** By the beginning of the SQLSTATE, which PostgreSQL, MySQL and MariaDB share as far as it is standard; the first match counts. */
const BY_STATE: readonly (readonly [prefix: string, words: string])[] = [
  ['3D000', 'the database does not exist'],
  ['28', 'the server rejected the user name or password'],
  ['42501', 'the account lacks the privilege'],
  ['42P01', 'the table does not exist'],
  ['42S02', 'the table does not exist'],
  ['42703', 'the column does not exist'],
  ['42S22', 'the column does not exist'],
  ['3F000', 'the schema does not exist'],
  ['42601', 'the SQL has a syntax error'],
  ['22021', 'a text has bytes that are not UTF-8'],
  ['22P05', 'a character has no equivalent in UTF-8'],
  ['25006', 'the query tries to write'],
  ['55006', 'another session uses it'],
  ['57014', 'the statement timeout was exceeded'],
  ['53300', 'the server has too many connections'],
];

/** MySQL's and MariaDB's own numbers, for errors whose SQLSTATE is a general one. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  1044: 'the account lacks access to this database',
  1049: 'the database does not exist',
  1064: 'the SQL has a syntax error',
  1142: 'the account lacks the privilege',
  1143: 'the account lacks the privilege',
  1203: 'the account has as many connections, or has run as many statements, as it may',
  1205: 'the lock wait timed out',
  1226: 'the account has as many connections, or has run as many statements, as it may',
  1969: 'the statement timeout was exceeded',
  3024: 'the statement timeout was exceeded',
};

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening on this host and port',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  ETIMEDOUT: 'the connection timed out',
  ECONNRESET: 'the connection was reset',
  HANDSHAKE_NO_SSL_SUPPORT: 'the server does not support TLS',
  SQLITE_NOTADB: 'the file is not an SQLite database',
  SQLITE_CANTOPEN: 'the file does not exist or cannot be read',
};

/** `SQLSTATE 28P01` as `SQLSTATE 28P01: the server rejected the user name or password`; unchanged if the code is not known. */
export function withMeaning(shown: string): string {
  const number = /^error (\d+)/.exec(shown)?.[1];
  const state = /SQLSTATE (\w{5})/.exec(shown)?.[1];
  const words =
    BY_CODE[shown] ??
    (number === undefined ? undefined : BY_NUMBER[number]) ??
    BY_STATE.find(([prefix]) => state?.startsWith(prefix))?.[1];
  return words === undefined ? shown : `${shown}: ${words}`;
}
