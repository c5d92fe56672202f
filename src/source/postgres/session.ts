/** A pool of PostgreSQL sessions that can only read, in UTC, with every wait bounded. */
import knexLibrary, { type Knex } from 'knex';
import type { Client, QueryConfig } from 'pg';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/foreign-text.js';
import type { SourceRow } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import { limitAnswers } from '../../postgres/answer-deadline.js';
import type { Session } from '../dialect.js';
import { SILENT, withConnection } from '../pool.js';
import { readTypes } from './types.js';

interface Answer {
  readonly rows: SourceRow[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number; readonly dataTypeModifier: number }[];
}

const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * Values stay the server's text: parsers would lose microseconds, digits and infinities. Beyond the budget they are
 * dropped as they arrive, so that a page of unexpectedly wide rows does not fill the memory.
 */
function textWithin(budget: number) {
  let left = budget;
  const keep = (value: string): string | undefined => ((left -= value.length) < 0 ? undefined : value);
  return { types: { getTypeParser: () => keep }, exceeded: () => left < 0 };
}

const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The driver takes a mode that it does not know for one with TLS, and says nothing. */
function assertKnownMode(address: string): void {
  const mode = URL.canParse(address) ? new URL(address).searchParams.get('sslmode') : null;
  if (mode !== null && !TLS_MODES.includes(mode))
    throw new PartnerSyncError(
      'config_invalid',
      `the address of the source has an unknown sslmode; known: ${TLS_MODES.join(', ')}`,
    );
}

export function openPostgresSession(config: SourceConfig): Session {
  assertKnownMode(config.connection);
  const knex = openPool(config);
  const run: Session['run'] = ({ sql, bindings }, { name, budget = Infinity } = {}) =>
    withConnection(knex, async (client: Client) => {
      const kept = Number.isFinite(budget) ? textWithin(budget) : { types: AS_TEXT, exceeded: () => false };
      // The extended protocol allows one statement a query: a second one in a mapping's query could end the
      // read-only transaction of the first.
      const asked = {
        text: sql,
        values: bindings as unknown[],
        rowMode: 'array',
        queryMode: 'extended',
        types: kept.types,
      };
      const send = (named: object): Promise<Answer> =>
        new Promise((resolve, reject) => {
          client.query({ ...asked, ...named } as QueryConfig, (error: Error | null, answer) => {
            if (error) reject(error);
            else resolve(answer as unknown as Answer);
          });
        });
      const { rows, fields } = await send(name === undefined ? {} : { name }).catch((error: unknown) => {
        // The table changed under a prepared statement, which cannot be used again.
        if (name !== undefined && errorCode(error) === '0A000') return send({});
        throw error;
      });
      const cut = kept.exceeded();
      const end = cut ? rows.findIndex((row) => row.some((value) => value === undefined)) : -1;
      return {
        rows: end < 0 ? rows : rows.slice(0, end),
        fields: fields.map((f) => ({ name: f.name, code: `${f.dataTypeID}/${f.dataTypeModifier}` })),
        cut,
      };
    });
  return { run, typesOf: (codes) => readTypes(run, codes), close: () => knex.destroy() };
}

function openPool(config: SourceConfig): Knex {
  const seconds = config.statementTimeout;
  return knexLibrary({
    client: 'pg',
    log: SILENT,
    connection: {
      connectionString: config.connection,
      application_name: 'partner-sync',
      connectionTimeoutMillis: 15_000,
      keepAlive: true,
    },
    pool: {
      min: 0,
      max: config.poolMax,
      afterCreate(connection: Client, done: (error: unknown, connection: Client) => void) {
        limitAnswers(connection, (seconds + 10) * 1000);
        connection
          .query(
            `SET default_transaction_read_only = on; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD';
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
    acquireConnectionTimeout: 20_000,
  });
}
