/** A pool of sessions that can only read, in UTC, with every wait bounded. */
import knexLibrary, { type Knex } from 'knex';
import type { SourceConfig } from '../../domain/sync.js';

interface RawConnection {
  query(sql: string): Promise<unknown>;
}

/** Values stay the server's text: parsers would lose microseconds, digits and infinities. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * Options of each query: rows as arrays of text; and one statement a query, which only the extended protocol
 * ensures: a second one in a mapping's query could end the read-only transaction of the first.
 */
export const PAGE_OPTIONS = { rowMode: 'array', types: AS_TEXT, queryMode: 'extended' };

export function openSession(config: SourceConfig): Knex {
  const seconds = config.statementTimeout;
  return knexLibrary({
    client: 'pg',
    connection: {
      connectionString: config.connection,
      application_name: 'partner-sync',
      connectionTimeoutMillis: 15_000,
      keepAlive: true,
      // The client's own deadline: a server that vanished sends no timeout.
      query_timeout: (seconds + 10) * 1000,
    },
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: RawConnection, done: (error: unknown, connection: RawConnection) => void) {
        connection
          .query(
            `SET default_transaction_read_only = on; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD';
             SET intervalstyle = 'iso_8601'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
             SET statement_timeout = '${seconds}s'; SET lock_timeout = '${seconds}s';
             SET idle_in_transaction_session_timeout = '${seconds}s'`,
          )
          .then(
            () => done(null, connection),
            (error: unknown) => done(error, connection),
          );
      },
    },
    acquireConnectionTimeout: 20_000,
    // Knex prints stack traces to stdout, where they would stand in the middle of a command's result.
    log: { warn: () => undefined, error: () => undefined, deprecate: () => undefined, debug: () => undefined },
  });
}
