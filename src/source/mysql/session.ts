/** A pool of MySQL or MariaDB sessions that can only read, in UTC, with every wait bounded. */
import { isIP } from 'node:net';
import knexLibrary, { type Knex } from 'knex';
import type { Connection, FieldPacket } from 'mysql2';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import type { SourceRow } from '../../domain/source/source.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import type { PageOptions, RawPage, Session } from '../dialect.js';
import { loadDriver } from '../load-driver.js';
import { discardConnection, connectionsInUse, SILENT, withConnection } from '../knex-pool.js';
import { tlsOptions } from '../tls.js';
import { percentDecoded } from '../percent-decoded.js';
import { codeOf, decoderOf, typeOfCode } from './types.js';
import { milliseconds } from '../../domain/timeouts.js';

/** Characters of a GROUP_CONCAT; the servers truncate longer ones without an error. */
const GROUP_CONCAT_LENGTH = 64 * 1024 * 1024;
/** Bytes by which ORDER BY compares texts; those that differ beyond them are in any order, and the next page would skip rows. */
const SORT_LENGTH = 8 * 1024;
/** Bytes in which the servers sort, where fifteen of the longest keys must fit: MariaDB's default, since that of MySQL is less. */
const SORT_BUFFER = 2 * 1024 * 1024;
/** No limit for statements that have none of their own. */
const NO_LIMIT = 2n ** 64n - 1n;

/** Throws `config_invalid` for an address that cannot be used, `driver_missing` without its driver; connects at the first statement. */
export const openMysqlSession = (config: SourceConfig): Session => openSession(config, 'READ ONLY');

/** The same for an administrator, whose statements may write. */
export const openWritingMysqlSession = (config: SourceConfig): Session => openSession(config, 'READ WRITE');

/** What transactions of a session may do. */
type Access = 'READ ONLY' | 'READ WRITE';

function openSession(config: SourceConfig, access: Access): Session {
  // Knex loads it itself, but its error would not say how to install it.
  loadDriver('mysql2');
  const knex = openPool(config, access);
  const timeout = config.statementTimeout * 1000 + milliseconds('sourceResponseGrace');
  return {
    run: ({ sql }, { budget = Infinity }: PageOptions = {}) =>
      withConnection(knex, (connection: Connection) => runOn(connection, sql, budget, timeout)),
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfCode(code)]))),
    write: (statements, within) =>
      withConnection(knex, async (connection: Connection) => {
        const limit = within + milliseconds('sourceResponseGrace');
        const run = (sql: string) => runOn(connection, sql, Infinity, limit);
        try {
          await run('START TRANSACTION READ WRITE');
          for (const { sql } of statements) await run(sql);
          await run('COMMIT');
        } catch (error) {
          await run('ROLLBACK').catch(() => discardConnection(connection));
          throw error;
        }
      }),
    connections: () => connectionsInUse(knex),
    close: () => knex.destroy(),
  };
}

/**
 * Runs a statement in the text protocol, where the server writes each value. Values are taken as bytes and decoded by the
 * type of their field, since the driver's own parsers round numbers and shift dates.
 */
function runOn(connection: Connection, sql: string, budget: number, timeout: number): Promise<RawPage> {
  let left = budget;
  const keep = (field: { buffer(): Buffer | null }): Buffer | null | undefined => {
    const bytes = field.buffer();
    left -= bytes?.length ?? 0;
    return left < 0 ? undefined : bytes;
  };
  return new Promise((resolve, reject) => {
    connection.query(
      { sql, timeout, rowsAsArray: true, typeCast: keep },
      (error, result, fields: FieldPacket[] | undefined) => {
        if (error !== null) {
          if (errorCode(error) === 'PROTOCOL_SEQUENCE_TIMEOUT') {
            discardConnection(connection);
            connection.destroy();
          }
          return reject(error);
        }
        // A statement that writes has no fields.
        if (fields === undefined) return resolve({ rows: [], fields: [] });
        const rows = result as unknown as (Buffer | null | undefined)[][];
        const end = left < 0 ? rows.findIndex((row) => row.includes(undefined)) : -1;
        resolve({
          rows: decoded(end < 0 ? rows : rows.slice(0, end), fields),
          fields: fields.map((field) => ({ name: field.name, code: codeOf(field) })),
          cut: left < 0,
        });
      },
    );
  });
}

function decoded(rows: readonly (Buffer | null | undefined)[][], fields: readonly FieldPacket[]): SourceRow[] {
  const decoders = fields.map(decoderOf);
  return rows.map((row) => row.map((bytes, i) => (bytes == null ? null : decoders[i]!(bytes))));
}

function openPool(config: SourceConfig, access: Access): Knex {
  return knexLibrary({
    client: 'mysql2',
    log: SILENT,
    connection: connectionOf(config.connection),
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: Connection, done: (error: unknown, connection: Connection) => void) {
        prepareSession(connection, config.statementTimeout, access).then(
          () => done(null, connection),
          (error: unknown) => done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: milliseconds('sourcePool'),
  });
}

function connectionOf(address: string): Knex.MySql2ConnectionConfig {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source must be a URL such as mysql://user@host:3306/database',
    );
  }
  const ssl = tlsOptions(url.searchParams);
  // The driver would compare the certificate with the name "localhost" instead.
  if (ssl?.verifyIdentity === true && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source: sslmode verify-full needs a host name instead of an IP address; without one, use verify-ca',
    );
  return {
    host: url.hostname,
    port: url.port === '' ? 3306 : Number(url.port),
    user: percentDecoded(url.username),
    password: percentDecoded(url.password),
    database: percentDecoded(url.pathname.slice(1)),
    charset: 'utf8mb4',
    connectTimeout: milliseconds('sourceConnect'),
    ...(ssl === undefined ? {} : { ssl: { ...ssl } }),
  };
}

/**
 * The server's mode without what would give other keys than a server without it (CHAR is padded), or refuse a comparison with a date
 * that it has stored (zero dates).
 */
const SQL_MODE = ['PAD_CHAR_TO_FULL_LENGTH', 'NO_ZERO_IN_DATE', 'NO_ZERO_DATE'].reduce(
  (mode, without) => `REPLACE(${mode}, '${without}', '')`,
  '@@sql_mode',
);

async function prepareSession(connection: Connection, seconds: number, access: Access): Promise<void> {
  const session = connection.promise();
  // A server may ignore the character set that the driver asks for, and change it by init_connect.
  await session.query('SET NAMES utf8mb4 COLLATE utf8mb4_general_ci');
  const [rows] = await session.query({ sql: 'SELECT VERSION()', rowsAsArray: true });
  const isMariaDb = String((rows as unknown as [string][])[0]![0]).includes('MariaDB');
  // Whatever the server's settings: no statement may see an earlier one's snapshot, nor what is not committed.
  await session.query('SET autocommit = 1');
  await session.query(`SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, ${access}`);
  await session.query(
    `SET time_zone = '+00:00', lock_wait_timeout = ${seconds}, innodb_lock_wait_timeout = ${seconds},
     group_concat_max_len = ${GROUP_CONCAT_LENGTH}, sql_mode = ${SQL_MODE}, sql_select_limit = ${NO_LIMIT},
     max_sort_length = GREATEST(@@max_sort_length, ${SORT_LENGTH}), sort_buffer_size = GREATEST(@@sort_buffer_size, ${SORT_BUFFER}),
     ${isMariaDb ? `max_statement_time = ${seconds}` : `max_execution_time = ${seconds * 1000}`}`,
  );
}
