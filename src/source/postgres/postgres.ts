/** The dialect of PostgreSQL 12 and later. */
import { errorCode } from '../../domain/values/foreign-text.js';
import { PartnerSyncError, type ErrorCode } from '../../domain/errors.js';
import { hexDigitsOf } from '../hex-digits.js';
import type { Dialect } from '../dialect.js';
import { classifyConnection } from '../source-error.js';
import { KeyTexts } from '../changes/key-texts.js';
import { openTableFeed } from '../changes/table-feed.js';
import { PostgresChangeTable, POSTGRES_KEYS } from './change-table/postgres-change-table.js';
import { openSlotFeed } from './changes/slot-feed.js';
import { COLUMNS_SQL, FOREIGN_KEYS_SQL, INDEXES_SQL, SERVER_SQL, TABLES_SQL } from './catalog.js';
import { postgresHighWatermark } from './high-watermark.js';
import { sourceTypeOf } from './types.js';
import { tablesReadByPostgres } from './tables-read.js';

/** By SQLSTATE class or code, the first match. Waiting does not cure missing permissions or a wrong schema. */
const BY_STATE: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['42P01', 'source_relation_missing'],
  ['3F000', 'source_relation_missing'],
  ['42703', 'source_relation_missing'],
  ['25006', 'config_invalid'], // the query writes, and the session is read-only
  ['0A', 'config_invalid'], // not supported by this server
  ['42', 'config_invalid'], // syntax, privileges, undefined functions
  ['22', 'config_invalid'], // a bound value that the column's type cannot read
  ['28', 'config_invalid'], // password, role
  ['3D', 'config_invalid'], // database
  ['08', 'source_unreachable'],
  ['57P', 'source_unreachable'], // shutdown, crash, cannot connect now
  ['25P', 'source_unreachable'], // the session sat idle too long and was ended
];
/** The driver's message, which has no code, if TLS was requested and the server does not support it. */
const NO_TLS = 'The server does not support SSL connections';
const QUERY_CANCELED = '57014';
/** A protocol violation by a function of the server that compares the values given with the parameters of a statement. */
const BIND = { code: '08P01', routine: 'exec_bind_message' };
const UNFILLED = 'it has a parameter, such as $1, which nothing fills: write the value itself';
/** A table, and a column. */
const UNKNOWN_NAME: readonly string[] = ['42P01', '42703'];

/** `column "emial" does not exist. Perhaps you meant to reference the column "customers.email".` */
function messageWithHint(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string };
  return hint === undefined ? message : `${message}. ${hint}`;
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A bound of a bytea column; without the mark \x its digits would be taken for characters. */
function bytesLiteral(databaseType: string, text: string): string {
  const digits = hexDigitsOf(text);
  if (digits !== undefined) return `\\x${digits}`;
  throw new PartnerSyncError('config_invalid', `source: a bound is not a valid value of a ${databaseType} column`, {
    unfitValue: true,
  });
}

export const postgres: Dialect = {
  name: 'PostgreSQL',
  quote,
  value: ({ type, databaseType }, text, bind) => bind(type === 'bytes' ? bytesLiteral(databaseType, text) : text),
  placeholder: (index) => `$${index}`,
  comparesRows: true,
  limit: (rows, bind) => `LIMIT ${bind(rows)}`,
  classify(error) {
    const code = errorCode(error);
    if (error instanceof Error && error.message === NO_TLS)
      return { code: 'config_invalid', shown: 'TLS: the server has none' };
    if (code === BIND.code && (error as { routine?: unknown }).routine === BIND.routine)
      return { code: 'config_invalid', shown: UNFILLED };
    if (!/^[0-9A-Z]{5}$/.test(code)) return classifyConnection(code, error);
    return {
      code: BY_STATE.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'source_query_failed',
      shown: `SQLSTATE ${code}`,
      ...(UNKNOWN_NAME.includes(code) && { unknownName: messageWithHint(error) }),
      timedOut: code === QUERY_CANCELED,
      unfitValue: code.startsWith('22'),
    };
  },
  highWatermark: postgresHighWatermark,
  async server(session) {
    const { rows } = await session.run({ sql: SERVER_SQL, bindings: [] });
    const [version, account, clock, timeZone, standby, may, hidden] = rows[0]!;
    // A standby knows nothing of its primary's transactions, whatever is granted there.
    const canBeSeen = standby === 'f' && hidden === 'f';
    return {
      product: 'PostgreSQL',
      version: version!,
      account: account!,
      clock: clock!,
      timeZone: timeZone!,
      standby: standby === 't',
      seesOpenTransactions: canBeSeen && may === 't',
      grantForOpenTransactions: canBeSeen && may === 'f' ? `GRANT pg_read_all_stats TO ${quote(account!)}` : null,
    };
  },
  changes(database, config) {
    if (config.kind === 'slot') return openSlotFeed(database, config);
    const keyTexts = new KeyTexts(database, POSTGRES_KEYS);
    return openTableFeed(new PostgresChangeTable(database, config, keyTexts), keyTexts);
  },
  tablesRead: tablesReadByPostgres,
  async catalog(session, names) {
    const ask = async (sql: string) =>
      (await session.run({ sql, bindings: [names === null ? null : JSON.stringify(names)] })).rows;
    return {
      tables: await ask(TABLES_SQL),
      columns: await ask(COLUMNS_SQL),
      indexes: await ask(INDEXES_SQL),
      foreignKeys: await ask(FOREIGN_KEYS_SQL),
    };
  },
  kindOf: (databaseType, hint) => sourceTypeOf(databaseType, hint === 'enum'),
};
