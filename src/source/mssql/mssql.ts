/** The dialect of SQL Server 2016 and later, and Azure SQL. Written from the documentation and never run against a server. */
import { errorCode } from '../../domain/values/foreign-text.js';
import type { Classified, Dialect } from '../dialect.js';
import { classifyConnection } from '../source-error.js';
import { mssqlCatalog } from './catalog.js';
import { mssqlHighWatermark, statusOf } from './high-watermark.js';
import { literal } from './literals.js';
import { kindOfName } from './types.js';

type Class = Omit<Classified, 'shown'>;
const MISSING: Class = { code: 'source_relation_missing' };
const WRONG: Class = { code: 'config_invalid' };
const AGAIN: Class = { code: 'source_query_failed' };
const GONE: Class = { code: 'source_unreachable' };

/** Error numbers of the server ("Database engine events and errors"). */
const BY_NUMBER: Readonly<Record<number, Class>> = {
  207: MISSING, // column
  208: MISSING, // table
  4902: MISSING,
  229: WRONG, // SELECT denied on a table
  230: WRONG, // SELECT denied on a column
  916: WRONG, // the login has no access to the database
  4060: WRONG, // no such database
  18456: WRONG, // password
  18470: WRONG, // account disabled
  209: WRONG, // an ambiguous column
  4104: WRONG, // a column of a table that the query does not read
  8120: WRONG, // a column that is not in GROUP BY
  8155: WRONG, // a column without a name
  8156: WRONG, // two columns of one name
  220: WRONG, // a value that a type cannot hold
  241: WRONG, // not a date
  242: WRONG,
  245: WRONG, // not a number
  248: WRONG,
  306: WRONG, // text and ntext are not ordered
  402: WRONG,
  468: WRONG, // incompatible collations
  8114: WRONG,
  8115: WRONG,
  8169: WRONG, // not a uniqueidentifier
  1205: AGAIN, // deadlock
  1222: AGAIN, // lock
  3960: AGAIN, // a snapshot was overtaken
  3961: AGAIN,
  596: GONE, // the session was killed
  6005: GONE, // shutdown
  976: GONE, // a replica that is not readable now
  978: GONE,
  983: GONE,
  40197: GONE, // Azure: being moved
  40501: GONE, // Azure: busy
  40613: GONE, // Azure: not available now
  49918: GONE,
  49919: GONE,
  49920: GONE,
};
/** Severities: 20 and above end the connection; 15 is a syntax error, 14 a missing permission. */
const FATAL = 20;
const AUTHORS = [14, 15];

/** The driver's own codes. */
const BY_CODE: Readonly<Record<string, Class>> = {
  ELOGIN: WRONG,
  EENCRYPT: WRONG,
  EINSTLOOKUP: GONE,
  ESOCKET: GONE,
  ECLOSE: GONE,
};

const quote = (name: string): string => `[${name.replaceAll(']', ']]')}]`;

export const mssql: Dialect = {
  name: 'SQL Server',
  quote,
  value: (type, text) => literal(type, text),
  // Nothing is bound: see literals.ts.
  placeholder: () => '?',
  // Row values are not supported.
  comparesRows: false,
  // READ COMMITTED reads no snapshot, unless the database is set to it.
  repeatsMovedRows: true,
  top: (rows) => `TOP (${rows}) `,
  limit: () => '',
  classify,
  highWatermark: mssqlHighWatermark,
  async server(session) {
    const { rows } = await session.run({
      sql: `SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')), SUSER_SNAME(),
              CONVERT(nvarchar(30), CAST(SYSUTCDATETIME() AS datetime2(6)), 126) + N'Z'`,
      bindings: [],
    });
    const [version, account, clock] = rows[0]!;
    const { seesTransactions, readOnly } = await statusOf(session);
    return {
      product: 'SQL Server',
      version: version!,
      account: account!,
      clock: clock!,
      // Versions before 2022 do not tell their zone.
      timeZone: null,
      standby: readOnly,
      seesOpenTransactions: seesTransactions && !readOnly,
      grantForOpenTransactions: seesTransactions ? null : `GRANT VIEW SERVER STATE TO ${quote(account!)}`,
    };
  },
  catalog: mssqlCatalog,
  kindOf: (databaseType) => kindOfName(databaseType),
};

function classify(error: unknown): Classified {
  const { number, class: severity = 0 } = error as { number?: number; class?: number };
  const code = errorCode(error);
  if (number !== undefined && number !== 0) {
    const shown = `error ${number}, severity ${severity}`;
    const known = BY_NUMBER[number] ?? (severity >= FATAL ? GONE : AUTHORS.includes(severity) ? WRONG : AGAIN);
    return { ...known, shown, ...(known === MISSING && error instanceof Error && { unknownName: error.message }) };
  }
  // The driver has the same code for a statement and for a connection that took too long.
  if (code === 'ETIMEOUT')
    return {
      ...((error as object).constructor.name === 'RequestError' ? { ...AGAIN, timedOut: true } : GONE),
      shown: code,
    };
  // The server says that the login may succeed later.
  if ((error as { isTransient?: unknown }).isTransient === true) return { ...GONE, shown: code };
  const cause = error instanceof Error && error.cause !== undefined ? errorCode(error.cause) : '';
  const known = BY_CODE[code];
  // The driver wraps errors of TLS and of the network.
  if (known === GONE && cause !== '') return classifyConnection(cause, error);
  return known === undefined ? classifyConnection(code, error) : { ...known, shown: code };
}
