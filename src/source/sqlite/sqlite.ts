/** The dialect of SQLite, of the version that the driver includes. */
import { errorCode } from '../../domain/values/foreign-text.js';
import type { ErrorCode } from '../../domain/errors.js';
import { hexDigitsOf } from '../hex-digits.js';
import { KeyTexts } from '../changes/key-texts.js';
import { slotOfPostgres } from '../changes/slot-of-postgres.js';
import { openTableFeed } from '../changes/table-feed.js';
import type { ColumnType, Dialect } from '../dialect.js';
import { classifyConnection } from '../source-error.js';
import { SqliteChangeTable, SQLITE_KEYS } from './change-table/sqlite-change-table.js';
import { sqliteCatalog } from './catalog.js';
import { sqliteHighWatermark } from './high-watermark.js';
import { tablesReadBySqlite } from './tables-read.js';
import { kindOfDeclared } from './types.js';

const BY_CODE: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['SQLITE_BUSY', 'source_query_failed'],
  ['SQLITE_LOCKED', 'source_query_failed'],
  ['SQLITE_IOERR', 'source_unreachable'],
  ['SQLITE_', 'config_invalid'], // no such file, no database, syntax, a query that writes
];

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A bound in the column's type; numbers as numbers, since SQLite may read a decimal text one bit off. */
function bound({ type }: ColumnType, text: string): string | bigint | number | Buffer {
  const digits = type === 'bytes' ? hexDigitsOf(text) : undefined;
  if (digits !== undefined) return Buffer.from(digits, 'hex');
  if (type === 'boolean') return text === 't' ? 1n : text === 'f' ? 0n : text;
  if (type !== 'integer' && type !== 'decimal' && type !== 'float') return text;
  if (/^-?\d{1,18}$/.test(text) || isInt64(text)) return BigInt(text);
  return NUMBER.test(text) ? Number(text) : text;
}

/** As the driver writes numbers. Number() also takes texts that SQLite keeps as texts, such as 0x10. */
const NUMBER = /^-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)$/i;

const isInt64 = (text: string): boolean => /^-?\d{19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

export const sqlite: Dialect = {
  name: 'SQLite',
  quote,
  value: (type, text, bind) => bind(bound(type, text)),
  placeholder: () => '?',
  comparesRows: true,
  classOf: (value) => `replace(typeof(${value}), 'real', 'integer')`,
  limit: (rows, bind) => `LIMIT ${bind(rows)}`,
  classify(error) {
    const code = errorCode(error);
    const message = error instanceof Error ? error.message : '';
    if (/^no such (table|column|view)/.test(message))
      return { code: 'source_relation_missing', shown: code, unknownName: message };
    const known = BY_CODE.find(([prefix]) => code.startsWith(prefix))?.[1];
    if (known !== undefined) return { code: known, shown: code };
    // Without a code: the folder is missing, or the statement returns no rows.
    if (error instanceof TypeError || error instanceof RangeError) return { code: 'config_invalid', shown: error.name };
    return classifyConnection(code, error);
  },
  highWatermark: sqliteHighWatermark,
  async server(session) {
    const sql = `SELECT sqlite_version(), strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'`;
    const [version, clock] = (await session.run({ sql, bindings: [] })).rows[0]!;
    return {
      product: 'SQLite',
      version: version!,
      account: null,
      clock: clock!,
      timeZone: null,
      standby: false,
      seesOpenTransactions: true,
      grantForOpenTransactions: null,
    };
  },
  changes(database, config) {
    if (config.kind === 'slot') throw slotOfPostgres('SQLite');
    return openTableFeed(new SqliteChangeTable(database, config), new KeyTexts(database, SQLITE_KEYS));
  },
  tablesRead: tablesReadBySqlite,
  catalog: sqliteCatalog,
  kindOf: (declared) => kindOfDeclared(declared),
};
