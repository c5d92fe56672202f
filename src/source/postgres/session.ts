/** A pool of PostgreSQL sessions that can only read, in UTC, with every wait bounded. */
import knexLibrary, { type Knex } from 'knex';
import type { Client } from 'pg';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import type { Rows } from '../../domain/source/source.js';
import { isReadablePostgresAddress } from '../../domain/source/source-address.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { abandonSession, limitResponseTime } from '../../postgres/response-deadline.js';
import type { TakenSession, PageOptions, Query, RawPage, Session } from '../dialect.js';
import {
  connectionsInUse,
  discardConnection,
  SILENT,
  takeConnection,
  withConnection,
  type TakenConnection,
} from '../knex-pool.js';
import { installRowInterceptor } from './row-interceptor.js';
import { askForText, type TextResult } from './text-query.js';
import { readTypes } from './types.js';
import { milliseconds } from '../../domain/timeouts.js';

const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The driver's errors would not say that the address is wrong, and it treats an unknown sslmode as one with TLS. */
function assertUsable(address: string): void {
  if (!isReadablePostgresAddress(address))
    throw new PartnerSyncError(
      'config_invalid',
      'the address of the source must be a URL such as postgres://user@host:5432/database; special characters of a user or password are written as %23 for # and so on',
    );
  const mode = URL.canParse(address) ? new URL(address).searchParams.get('sslmode') : null;
  if (mode !== null && !TLS_MODES.includes(mode))
    throw new PartnerSyncError(
      'config_invalid',
      `the address of the source has an unknown sslmode; known: ${TLS_MODES.join(', ')}`,
    );
}

/** Throws `config_invalid` for an address that cannot be used; connects at the first statement. */
export const openPostgresSession = (config: SourceConfig): Session => openSession(config, 'on');

/** The same for an administrator, whose statements may write. */
export const openWritingPostgresSession = (config: SourceConfig): Session => openSession(config, 'off');

function openSession(config: SourceConfig, readOnly: 'on' | 'off'): Session {
  assertUsable(config.connection);
  const knex = openPool(config, readOnly);
  const run = runner((query, options) =>
    withConnection(knex, (client: Client) => askOn(client, query, options, responseLimit(config))),
  );
  return {
    run,
    typesOf: (codes) => readTypes(run, codes),
    take: async (within) => {
      const taken = await takeConnection<Client>(knex);
      return takenSession(taken, within + milliseconds('sourceResponseGrace'));
    },
    write: async (statements, within) => {
      const connection = await takeConnection<Client>(knex);
      const taken = takenSession(connection, within + milliseconds('sourceResponseGrace'));
      try {
        await taken.run({ sql: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', bindings: [] });
        await taken.run({ sql: `SELECT set_config('statement_timeout', $1, true)`, bindings: [`${within}ms`] });
        for (const statement of statements) await taken.run(statement);
        await taken.run({ sql: 'COMMIT', bindings: [] });
      } finally {
        await taken.release();
      }
    },
    connections: () => connectionsInUse(knex),
    close: () => knex.destroy(),
  };
}

type Ask = (query: Query, options: PageOptions) => Promise<RawPage<Rows>>;

/** Rows are decoded at once unless options are given: {@link Session.run}. */
function runner(ask: Ask): Session['run'] {
  async function run(query: Query): Promise<RawPage>;
  async function run(query: Query, options: PageOptions): Promise<RawPage<Rows>>;
  async function run(query: Query, options?: PageOptions): Promise<RawPage<Rows>> {
    if (options !== undefined) return ask(query, options);
    const result = await ask(query, {});
    return { ...result, rows: [...result.rows] };
  }
  return run;
}

async function askOn(
  client: Client,
  { sql, bindings }: Query,
  { name, budget = Infinity }: PageOptions,
  within: number,
): Promise<RawPage<Rows>> {
  const ask = (named: object): Promise<TextResult> =>
    askForText(client, { text: sql, values: bindings, ...named }, { budget, within });
  const { rows, fields, cut } = await ask(name === undefined ? {} : { name }).catch((error: unknown) => {
    // The table was altered after the statement was prepared; it must be sent again.
    if (name !== undefined && errorCode(error) === '0A000') return ask({});
    throw error;
  });
  return {
    rows,
    cut,
    fields: fields.map((f) => ({ name: f.name, code: `${f.dataTypeID}/${f.dataTypeModifier}` })),
  };
}

function takenSession(taken: TakenConnection<Client>, within: number): TakenSession {
  const client = taken.connection;
  const run = runner((query, options) => askOn(client, query, options, within));
  const warnings: string[] = [];
  const note = ({ code }: { readonly code?: string | undefined }): void => void warnings.push(code ?? '');
  client.on('notice', note);
  return {
    run,
    typesOf: (codes) => readTypes(run, codes),
    warnings,
    async release() {
      await run({ sql: 'ROLLBACK', bindings: [] }).catch(() => discardConnection(client));
      client.off('notice', note);
      await taken.release();
    },
    abandon: () => abandonSession(client),
  };
}

/** Milliseconds after which a server counts as lost: one that is running cancels the statement before that. */
const responseLimit = ({ statementTimeout }: SourceConfig): number =>
  statementTimeout * 1000 + milliseconds('sourceResponseGrace');

function openPool(config: SourceConfig, readOnly: 'on' | 'off'): Knex {
  const seconds = config.statementTimeout;
  return knexLibrary({
    client: 'pg',
    log: SILENT,
    connection: {
      connectionString: config.connection,
      application_name: 'partner-sync',
      connectionTimeoutMillis: milliseconds('sourceConnect'),
      keepAlive: true,
    },
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: Client, done: (error: unknown, connection: Client) => void) {
        limitResponseTime(connection, responseLimit(config));
        installRowInterceptor(connection);
        connection
          .query(
            `SET default_transaction_read_only = ${readOnly}; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD';
             SET intervalstyle = 'iso_8601'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
             SET client_encoding = 'UTF8';
             SET statement_timeout = '${seconds}s'; SET lock_timeout = '${seconds}s';
             SET idle_in_transaction_session_timeout = '${seconds}s'`,
          )
          .then(
            () => done(null, connection),
            (error: unknown) => done(error, connection),
          );
      },
    },
    acquireConnectionTimeout: milliseconds('sourcePool'),
  });
}
