/** A pool of MySQL or MariaDB sessions that can only read, in UTC, with every wait bounded. */
import { isIP } from 'node:net';
import knexLibrary, { type Knex } from 'knex';
import type { Connection, FieldPacket } from 'mysql2';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/foreign-text.js';
import type { SourceRow } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import type { PageOptions, RawPage, Session } from '../dialect.js';
import { abandon, SILENT, withConnection } from '../pool.js';
import { tlsOptions } from '../tls.js';
import { unescaped } from '../unescaped.js';
import { codeOf, decoderOf, typeOfCode } from './types.js';

/** Characters of a GROUP_CONCAT; the servers cut longer ones off without a word. */
const GROUP_CONCAT_LENGTH = 64 * 1024 * 1024;

export function openMysqlSession(config: SourceConfig): Session {
  const knex = openPool(config);
  const timeout = (config.statementTimeout + 10) * 1000;
  return {
    run: ({ sql }, { budget = Infinity }: PageOptions = {}) =>
      withConnection(knex, (connection: Connection) => runOn(connection, sql, budget, timeout)),
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfCode(code)]))),
    close: () => knex.destroy(),
  };
}

/**
 * The text protocol: the server writes each value itself. Values are taken as bytes and turned into text by the type
 * of their field, since the driver's own parsers round numbers and move dates.
 */
function runOn(connection: Connection, sql: string, budget: number, timeout: number): Promise<RawPage> {
  let left = budget;
  const keep = (field: { buffer(): Buffer | null }): Buffer | null | undefined => {
    const bytes = field.buffer();
    left -= bytes?.length ?? 0;
    return left < 0 ? undefined : bytes;
  };
  return new Promise((resolve, reject) => {
    connection.query({ sql, timeout, rowsAsArray: true, typeCast: keep }, (error, answer, fields) => {
      if (error !== null) {
        if (errorCode(error) === 'PROTOCOL_SEQUENCE_TIMEOUT') {
          abandon(connection);
          connection.destroy();
        }
        return reject(error);
      }
      const rows = answer as unknown as (Buffer | null | undefined)[][];
      const end = left < 0 ? rows.findIndex((row) => row.includes(undefined)) : -1;
      resolve({
        rows: decoded(end < 0 ? rows : rows.slice(0, end), fields),
        fields: fields.map((field) => ({ name: field.name, code: codeOf(field) })),
        cut: left < 0,
      });
    });
  });
}

function decoded(rows: readonly (Buffer | null | undefined)[][], fields: readonly FieldPacket[]): SourceRow[] {
  const decoders = fields.map(decoderOf);
  return rows.map((row) => row.map((bytes, i) => (bytes == null ? null : decoders[i]!(bytes))));
}

function openPool(config: SourceConfig): Knex {
  return knexLibrary({
    client: 'mysql2',
    log: SILENT,
    connection: connectionOf(config.connection),
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: Connection, done: (error: unknown, connection: Connection) => void) {
        prepareSession(connection, config.statementTimeout).then(
          () => done(null, connection),
          (error: unknown) => done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: 20_000,
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
  // The driver would hold the certificate against the name "localhost" instead.
  if (ssl?.verifyIdentity === true && isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source: sslmode verify-full needs a host name, not a number; use verify-ca where there is none',
    );
  return {
    host: url.hostname,
    port: url.port === '' ? 3306 : Number(url.port),
    user: unescaped(url.username),
    password: unescaped(url.password),
    database: unescaped(url.pathname.slice(1)),
    charset: 'utf8mb4',
    connectTimeout: 15_000,
    ...(ssl === undefined ? {} : { ssl: { ...ssl } }),
  };
}

async function prepareSession(connection: Connection, seconds: number): Promise<void> {
  const session = connection.promise();
  const [rows] = await session.query({ sql: 'SELECT VERSION()', rowsAsArray: true });
  const isMariaDb = String((rows as unknown as [string][])[0]![0]).includes('MariaDB');
  await session.query('SET SESSION TRANSACTION READ ONLY');
  await session.query(
    `SET time_zone = '+00:00', lock_wait_timeout = ${seconds}, innodb_lock_wait_timeout = ${seconds},
     group_concat_max_len = ${GROUP_CONCAT_LENGTH},
     ${isMariaDb ? `max_statement_time = ${seconds}` : `max_execution_time = ${seconds * 1000}`}`,
  );
}
