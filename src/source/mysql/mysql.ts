/** The dialect of MySQL 8 and MariaDB 10.5, and later versions. */
import { errorCode } from '../../domain/values/foreign-text.js';
import type { ErrorCode } from '../../domain/errors.js';
import { KeyTexts } from '../changes/key-texts.js';
import { slotOfPostgres } from '../changes/slot-of-postgres.js';
import { openTableFeed } from '../changes/table-feed.js';
import type { Classified, Dialect } from '../dialect.js';
import { classifyConnection } from '../source-error.js';
import { MysqlChangeTable } from './change-table/mysql-change-table.js';
import { MYSQL_KEYS } from './change-table/recorded-keys.js';
import { mysqlCatalog } from './catalog.js';
import { isReplica, mysqlHighWatermark, seesTransactions } from './high-watermark.js';
import { literal } from './literals.js';
import { kindOfName } from './types.js';

/** Error numbers of the servers whose SQLSTATE is too general. */
const BY_NUMBER: Readonly<Record<number, Omit<Classified, 'shown'>>> = {
  1040: { code: 'source_unreachable' }, // too many connections
  1053: { code: 'source_unreachable' }, // shutdown
  1054: { code: 'source_relation_missing' }, // column
  1109: { code: 'source_relation_missing' }, // table
  1146: { code: 'source_relation_missing' }, // table
  1203: { code: 'source_unreachable' }, // too many connections of one account
  1226: { code: 'source_unreachable' }, // the same, or too many statements within an hour
  1356: { code: 'source_relation_missing' }, // a view over what is gone
  1267: { code: 'config_invalid', unfitValue: true }, // characters that those of the column do not have
  1525: { code: 'config_invalid', unfitValue: true }, // a day that there is not
  1205: { code: 'source_query_failed' }, // lock
  1213: { code: 'source_query_failed' }, // deadlock
  1317: { code: 'source_query_failed' }, // interrupted
  1290: { code: 'config_invalid' }, // the query writes, and the server is read-only
  1792: { code: 'config_invalid' }, // the query writes, and the session is read-only
  1927: { code: 'source_unreachable' }, // the session was killed
  1969: { code: 'source_query_failed', timedOut: true }, // MariaDB's max_statement_time
  3024: { code: 'source_query_failed', timedOut: true }, // MySQL's max_execution_time
};
const BY_STATE: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['08', 'source_unreachable'],
  ['42', 'config_invalid'], // syntax, privileges
  ['22', 'config_invalid'], // a value that a type cannot read
  ['28', 'config_invalid'], // password
];
/** A column, and a table. */
const UNKNOWN_NAME: readonly number[] = [1054, 1146];
/** Codes of the driver itself, which waiting does not cure; lost connections have Node's codes. */
const REFUSED = /^(HANDSHAKE_|AUTH_SWITCH_)/;

const quote = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

export const mysql: Dialect = {
  name: 'MySQL',
  quote,
  value: (type, text) => literal(type, text),
  // Nothing is bound: see literals.ts.
  placeholder: () => '?',
  // Row values are supported, but the planner reads the whole index for them.
  comparesRows: false,
  limit: (rows) => `LIMIT ${rows}`,
  classify(error) {
    const { errno, sqlState = '', sqlMessage } = error as { errno?: number; sqlState?: string; sqlMessage?: string };
    if (sqlState === '' || errno === undefined) {
      const code = errorCode(error);
      const shown = code === 'HANDSHAKE_SSL_ERROR' ? `TLS: ${code}` : code;
      return REFUSED.test(code) ? { code: 'config_invalid', shown } : classifyConnection(code, error);
    }
    const shown = `error ${errno}, SQLSTATE ${sqlState}`;
    const code = BY_STATE.find(([prefix]) => sqlState.startsWith(prefix))?.[1] ?? 'source_query_failed';
    const unknownName = UNKNOWN_NAME.includes(errno) ? sqlMessage : undefined;
    return { code, ...BY_NUMBER[errno], shown, ...(unknownName !== undefined && { unknownName }) };
  },
  highWatermark: mysqlHighWatermark,
  async server(session) {
    const { rows } = await session.run({
      sql: `SELECT VERSION(), CURRENT_USER(), DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'),
              IF(@@global.time_zone = 'SYSTEM', @@system_time_zone, @@global.time_zone)`,
      bindings: [],
    });
    const [version, account, clock, timeZone] = rows[0]!;
    const [sees, standby] = [await seesTransactions(session), await isReplica(session)];
    const [, user, host] = /^(.*)@(.*)$/s.exec(account!)!;
    return {
      product: version!.includes('MariaDB') ? 'MariaDB' : 'MySQL',
      version: version!,
      account: account!,
      clock: clock!,
      timeZone: timeZone!,
      standby,
      seesOpenTransactions: sees && !standby,
      grantForOpenTransactions: sees || standby ? null : `GRANT PROCESS ON *.* TO ${quote(user!)}@${quote(host!)}`,
    };
  },
  changes(database, config) {
    if (config.kind === 'slot') throw slotOfPostgres('MySQL or MariaDB');
    const keyTexts = new KeyTexts(database, MYSQL_KEYS);
    return openTableFeed(new MysqlChangeTable(database, config, keyTexts), keyTexts);
  },
  catalog: mysqlCatalog,
  kindOf: (columnType, hint) => (hint === 'json' ? 'json' : kindOfName(columnType)),
};
