/** A pool of SQL Server sessions whose transactions are always rolled back, with every wait bounded. */
import type { EventEmitter } from 'node:events';
import knexLibrary, { type Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import type { SourceRow } from '../../domain/source/source.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import type { PageOptions, RawPage, Session } from '../dialect.js';
import { loadDriver } from '../load-driver.js';
import { discardConnection, connectionsInUse, SILENT, withConnection } from '../knex-pool.js';
import { tlsOptions } from '../tls.js';
import { percentDecoded } from '../percent-decoded.js';
import { codeOf, typeOfCode, type ColumnMetadata } from './types.js';
import { milliseconds } from '../../domain/timeouts.js';

/** The part of the driver `tedious` that is used. */
export interface TdsDriver {
  readonly Connection: new (config: object) => EventEmitter;
  readonly Request: new (sql: string, done: (error: Error | null | undefined) => void) => TdsRequest;
}
export interface TdsRequest {
  on(event: 'columnMetadata', listener: (columns: ColumnMetadata[]) => void): unknown;
  on(event: 'row', listener: (columns: { readonly value: unknown }[]) => void): unknown;
}
export interface TdsConnection {
  execSqlBatch(request: TdsRequest): void;
}

/** Throws `config_invalid` for an address that cannot be used, `driver_missing` without its driver. */
export function openMssqlSession(config: SourceConfig): Session {
  const driver = loadDriver<TdsDriver>('tedious');
  const knex = openPool(driver, config);
  return {
    run: ({ sql }, { budget = Infinity }: PageOptions = {}) =>
      withConnection(knex, (connection: TdsConnection) => runOn(driver, connection, sql, budget)),
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfCode(code)]))),
    connections: () => connectionsInUse(knex),
    close: () => knex.destroy(),
  };
}

const CLOSE = 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;';

/**
 * SQL Server has no read-only sessions, so each statement runs in a transaction that is rolled back, whatever a mapping's
 * query contains.
 */
const readingOnly = (sql: string): string => `${CLOSE}\nBEGIN TRANSACTION;\n${sql}\n;${CLOSE}`;

/** Runs a statement and rolls back; keeps about `budget` characters of its rows. */
export function runOn(driver: TdsDriver, connection: TdsConnection, sql: string, budget: number): Promise<RawPage> {
  return new Promise((resolve, reject) => {
    let left = budget;
    let columns: ColumnMetadata[] = [];
    const rows: SourceRow[] = [];
    let failed: Error | undefined;
    const request = new driver.Request(readingOnly(sql), (error) => {
      // The server may still send rows of a response that was given up.
      if (errorCode(error) === 'ETIMEOUT') discardConnection(connection);
      if (error) return reject(error);
      if (failed !== undefined) return reject(failed);
      resolve({
        rows,
        fields: columns.map((column) => ({ name: column.colName, code: codeOf(column) })),
        // The row that exceeded the budget is complete and kept.
        cut: left < 0,
      });
    });
    request.on('columnMetadata', (given) => void (columns = given));
    request.on('row', (given) => {
      if (left < 0 || failed !== undefined) return;
      try {
        const row = given.map(({ value }, i) => textOf(value, columns[i]));
        for (const value of row) left -= value?.length ?? 0;
        rows.push(row);
      } catch (error) {
        failed = error as Error;
      }
    });
    connection.execSqlBatch(request);
  });
}

/** All values are selected as text; one that the driver has parsed is not exact any more. */
function textOf(value: unknown, column: ColumnMetadata | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  throw new PartnerSyncError(
    'config_invalid',
    `source: the column ${column?.colName ?? ''} is ${column?.type.name.toLowerCase() ?? 'unknown'}, which has no exact text; CAST it in a query`,
  );
}

function openPool(driver: TdsDriver, config: SourceConfig): Knex {
  const knex = knexLibrary({
    client: 'mssql',
    log: SILENT,
    connection: connectionOf(config) as Knex.MsSqlConnectionConfig,
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: TdsConnection, done: (error: unknown, connection: TdsConnection) => void) {
        prepare(driver, connection, config.statementTimeout * 1000).then(
          () => done(null, connection),
          (error: unknown) => done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: milliseconds('sourcePool'),
  });
  const client = knex.client as { _driver: () => TdsDriver };
  client._driver = () => listenedTo(driver);
  return knex;
}

/**
 * The driver with a listener for errors: it emits those of connecting a second time, before Knex listens, and an
 * `error` event without a listener ends the process.
 */
const listenedTo = (driver: TdsDriver): TdsDriver => ({
  ...driver,
  Connection: class extends driver.Connection {
    constructor(config: object) {
      super(config);
      this.on('error', () => undefined);
    }
  },
});

/** Bounds the wait for locks, ends the transaction at any error, and fixes the format of dates. */
function prepare(driver: TdsDriver, connection: TdsConnection, lockTimeout: number): Promise<void> {
  const sql = `SET LOCK_TIMEOUT ${lockTimeout}; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET DATEFORMAT ymd; SET DEADLOCK_PRIORITY LOW;`;
  return new Promise((resolve, reject) => {
    connection.execSqlBatch(new driver.Request(sql, (error) => (error ? reject(error) : resolve())));
  });
}

/** The settings of a connection from its URL. Knex passes `options` to the driver, though it declares only some of them. */
export function connectionOf({ connection, statementTimeout }: SourceConfig) {
  let url: URL;
  try {
    url = new URL(connection);
  } catch {
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source must be a URL such as sqlserver://user@host:1433/database',
    );
  }
  const intent = url.searchParams.get('applicationIntent') ?? 'ReadWrite';
  if (!/^Read(Only|Write)$/i.test(intent))
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source has an unknown applicationIntent; known: ReadOnly, ReadWrite',
    );
  url.searchParams.delete('applicationIntent');
  const tls = tlsOptions(url.searchParams);
  if (tls !== undefined && tls.rejectUnauthorized && !tls.verifyIdentity)
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source: the driver of SQL Server cannot skip the check of the host name; use sslmode=verify-full or no-verify',
    );
  if (url.hostname === '' || url.pathname.length < 2)
    throw new PartnerSyncError('config_invalid', 'the address of the source must name a host and a database');
  return {
    server: url.hostname,
    user: percentDecoded(url.username),
    password: percentDecoded(url.password),
    database: percentDecoded(url.pathname.slice(1)),
    options: {
      port: url.port === '' ? 1433 : Number(url.port),
      appName: 'partner-sync',
      encrypt: tls !== undefined,
      trustServerCertificate: tls?.rejectUnauthorized !== true,
      ...(tls && { cryptoCredentialsDetails: { ca: tls.ca, cert: tls.cert, key: tls.key } }),
      // A replica may lag, so it is used only on request.
      readOnlyIntent: /only$/i.test(intent),
      connectTimeout: milliseconds('sourceConnect'),
      requestTimeout: statementTimeout * 1000,
      enableArithAbort: true,
    },
  };
}
