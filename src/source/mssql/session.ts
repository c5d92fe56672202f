/** A pool of SQL Server sessions, in whose transactions nothing stays, with every wait bounded. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import knexLibrary, { type Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/foreign-text.js';
import type { SourceRow } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import type { PageOptions, RawPage, Session } from '../dialect.js';
import { abandon, SILENT, withConnection } from '../pool.js';
import { tlsOptions } from '../tls.js';
import { unescaped } from '../unescaped.js';
import { codeOf, typeOfCode, type ColumnMetadata } from './types.js';

/** The part of the driver `tedious` that is used; it is installed by those who need it. */
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

export function openMssqlSession(config: SourceConfig): Session {
  const driver = installedDriver();
  const knex = openPool(driver, config);
  return {
    run: ({ sql }, { budget = Infinity }: PageOptions = {}) =>
      withConnection(knex, (connection: TdsConnection) => runOn(driver, connection, sql, budget)),
    typesOf: (codes) => Promise.resolve(new Map(codes.map((code) => [code, typeOfCode(code)]))),
    close: () => knex.destroy(),
  };
}

function installedDriver(): TdsDriver {
  try {
    return createRequire(import.meta.url)('tedious') as TdsDriver;
  } catch (error) {
    throw new PartnerSyncError(
      'config_invalid',
      'the driver of SQL Server is not installed; in the project that runs partner-sync: npm install tedious@18',
      {},
      { cause: error },
    );
  }
}

const CLOSE = 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;';

/**
 * There are no sessions that can only read. So each statement runs in a transaction that is rolled back, whatever a
 * mapping's query has in it.
 */
const readingOnly = (sql: string): string => `${CLOSE}\nBEGIN TRANSACTION;\n${sql}\n;${CLOSE}`;

export function runOn(driver: TdsDriver, connection: TdsConnection, sql: string, budget: number): Promise<RawPage> {
  return new Promise((resolve, reject) => {
    let left = budget;
    let columns: ColumnMetadata[] = [];
    const rows: SourceRow[] = [];
    let failed: Error | undefined;
    const request = new driver.Request(readingOnly(sql), (error) => {
      // Nobody can say what the server still sends of an answer that was given up.
      if (errorCode(error) === 'ETIMEOUT') abandon(connection);
      if (error) return reject(error);
      if (failed !== undefined) return reject(failed);
      resolve({
        rows,
        fields: columns.map((column) => ({ name: column.colName, code: codeOf(column) })),
        // The row that went over the budget is complete: nothing smaller has to be asked for.
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

/** Values are asked for as texts; what the driver has made something else of is not exact any more. */
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
  const milliseconds = config.statementTimeout * 1000;
  const knex = knexLibrary({
    client: 'mssql',
    log: SILENT,
    connection: connectionOf(config) as Knex.MsSqlConnectionConfig,
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: TdsConnection, done: (error: unknown, connection: TdsConnection) => void) {
        prepare(driver, connection, milliseconds).then(
          () => done(null, connection),
          (error: unknown) => done(error, connection),
        );
      },
    },
    acquireConnectionTimeout: 20_000,
  });
  const client = knex.client as { _driver: () => TdsDriver };
  client._driver = () => listenedTo(driver);
  return knex;
}

/**
 * Knex listens to a connection's errors once it is open; the driver also tells of those before, a second time, and an
 * error that nobody listens to ends the process.
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

/** Locks are waited for no longer than a statement may take; an error ends its transaction; dates are read one way. */
function prepare(driver: TdsDriver, connection: TdsConnection, milliseconds: number): Promise<void> {
  const sql = `SET LOCK_TIMEOUT ${milliseconds}; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET DATEFORMAT ymd; SET DEADLOCK_PRIORITY LOW;`;
  return new Promise((resolve, reject) => {
    connection.execSqlBatch(new driver.Request(sql, (error) => (error ? reject(error) : resolve())));
  });
}

/** Knex hands `options` to the driver as they are, and declares only some of them. */
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
      'the address of the source: the driver of SQL Server cannot leave the host name unchecked; use sslmode=verify-full, or no-verify',
    );
  if (url.hostname === '' || url.pathname.length < 2)
    throw new PartnerSyncError('config_invalid', 'the address of the source must name a host and a database');
  const { rejectUnauthorized, verifyIdentity: _, ...files } = tls ?? { rejectUnauthorized: false };
  return {
    server: url.hostname,
    user: unescaped(url.username),
    password: unescaped(url.password),
    database: unescaped(url.pathname.slice(1)),
    options: {
      port: url.port === '' ? 1433 : Number(url.port),
      appName: 'partner-sync',
      encrypt: tls !== undefined,
      trustServerCertificate: !rejectUnauthorized,
      ...(tls === undefined ? {} : { cryptoCredentialsDetails: files }),
      // A replica may be behind: only who asks for it is sent there.
      readOnlyIntent: /only$/i.test(intent),
      connectTimeout: 15_000,
      requestTimeout: statementTimeout * 1000,
      enableArithAbort: true,
    },
  };
}
