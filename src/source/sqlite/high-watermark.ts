/**
 * The high watermark of SQLite: the clock. One connection writes at a time, so all rows with an earlier timestamp are
 * committed, except those of the transaction under way, which the overlap covers.
 *
 * Timestamps are texts in whatever format the application chose, and compare as texts; so the high watermark is written
 * in the format of the latest ones in the table. One far ahead, such as 9999-12-31, may be written otherwise than the others.
 */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError } from '../../domain/errors.js';
import { quoted } from '../../domain/values/quoted.js';
import type { CursorColumn, Dialect } from '../dialect.js';
import { seconds } from '../../domain/timeouts.js';
import { highWatermarkText, noHighWatermark } from '../high-watermark-text.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:([ T])\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|\+00(?::?00)?)?)?$/;
const USUAL = '0000-00-00 00:00:00';
const MOST_DIGITS = 9;

/** See {@link Dialect.highWatermark}. Throws `config_invalid` for a cursor whose latest values are no timestamps of one format. */
export const sqliteHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const compared = comparedOf(cursor);
  const value = async (sql: string): Promise<string | null> =>
    (await session.run({ sql, bindings: [] })).rows[0]?.[0] ?? null;
  const latest = (await value(latestSql(compared))) ?? USUAL;
  const format = TIMESTAMP.exec(latest);
  if (format === null) throw noHighWatermark(cursor);
  const other = (await value(neverReadSql(compared))) ?? (await value(otherwiseSql(compared, format)));
  if (other !== null) throw severalFormats(cursor, latest, other);
  const [, separator, fraction = '', suffix] = format;
  const type = separator === undefined ? 'date' : suffix === undefined ? 'timestamp' : 'timestamptz';
  const column: CursorColumn = { ...cursor, type };
  // Z is above any digit: of the texts of a moment, that with the most digits is the lowest one. Otherwise, it is that with the fewest.
  const shortest = suffix === 'Z' || fraction === '' ? latest : ((await value(shortestSql(compared))) ?? latest);
  const digits = suffix === 'Z' ? MOST_DIGITS : (/\.(\d+)/.exec(shortest)?.[1]!.length ?? 0);
  const now = Temporal.Now.instant().toString({ fractionalSecondDigits: MOST_DIGITS });
  const text = highWatermarkText(now, column, { digits, utcSuffix: suffix ?? '' });
  return separator === 'T' ? text.replace(' ', 'T') : text;
};

/** The cursor as pages compare it, and where it is read from. */
interface Compared {
  readonly at: string;
  readonly from: string;
}

function comparedOf({ name, from, order = (sql) => sql }: CursorColumn): Compared {
  return { at: order(`q."${name.replaceAll('"', '""')}"`), from };
}

const AROUND_NOW = seconds('cursorAhead');
const BEFORE = `date('now', '-${AROUND_NOW} seconds')`;
const AHEAD = `date('now', '+${AROUND_NOW} seconds')`;

/** The latest value that is not far ahead; if there is none, the latest one. */
function latestSql({ at, from }: Compared): string {
  const latest = `SELECT max(${at}) FROM ${from}`;
  return `SELECT coalesce((${latest} WHERE ${at} < ${AHEAD}), (${latest}))`;
}

/** The values around now, and the latest one before: up to there, an earlier run may have read. */
const recent = ({ at, from }: Compared): string =>
  `FROM ${from} WHERE ${at} >= coalesce((SELECT max(${at}) FROM ${from} WHERE ${at} < ${BEFORE}), '') AND ${at} < ${AHEAD}`;

/** A recent value that differs from `format`, in more than the digits of a second. */
function otherwiseSql(compared: Compared, [, separator, , suffix = '']: RegExpExecArray): string {
  const { at } = compared;
  const start = separator === undefined ? '????-??-??' : `????-??-??${separator}??:??:??*`;
  const unlike = suffix === '' ? `${at} GLOB '${start}[Z+-]*'` : `${at} NOT GLOB '${start}${suffix}'`;
  return `SELECT ${at} ${recent(compared)} AND (${at} NOT GLOB '${start}' OR ${unlike}) LIMIT 1`;
}

/** The recent value with the fewest digits. */
const shortestSql = (compared: Compared): string =>
  `SELECT first FROM (SELECT ${compared.at} AS first, min(length(${compared.at})) ${recent(compared)})`;

/**
 * A value that no high watermark of today is below, although it does not stand for a day of long ago: a number, an empty text, or one that
 * begins with the day or the month.
 */
const neverReadSql = ({ at, from }: Compared): string =>
  `SELECT ${at} FROM ${from}
   WHERE (${at} < '1900-' OR (${at} >= '2-' AND ${at} < '20/~')) AND ${at} NOT GLOB '????-*' LIMIT 1`;

/** Characters of a format that a message shows. */
const SHOWN = 40;

/** The format of a value, without the value: each digit as 0, each letter that is not one of a timestamp as x. */
const formOf = (value: string): string =>
  quoted(
    value
      .slice(0, SHOWN)
      .replaceAll(/\d/g, '0')
      .replaceAll(/[^0 TZ:.,/+-]/g, 'x'),
  );

const severalFormats = (cursor: CursorColumn, one: string, other: string): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `the cursor ${cursor.name} has values in more than one format, ${formOf(one)} and ${formOf(other)}, with 0 for any digit; SQLite compares them as texts, so rows would never be read. Let the application write one format, convert the rows that have the other one, and run once in mode full; or convert all with strftime in a view or a query; or use mode full`,
  );
