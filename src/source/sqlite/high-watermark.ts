/**
 * The high watermark of SQLite: the clock. One connection writes at a time, so all rows with an earlier timestamp are
 * committed, except those of the transaction under way, which the overlap covers.
 *
 * Timestamps are texts in whatever format the application chose, and compare as texts; so the high watermark is written
 * in the format of the latest one in the table. One far ahead, such as 9999-12-31, may be written otherwise than the others.
 */
import { Temporal } from 'temporal-polyfill';
import type { CursorColumn, Dialect } from '../dialect.js';
import { seconds } from '../../domain/timeouts.js';
import { highWatermarkText, noHighWatermark } from '../high-watermark-text.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:([ T])\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|\+00(?::?00)?)?)?$/;
const USUAL = '0000-00-00 00:00:00';

/** See {@link Dialect.highWatermark}. Throws `config_invalid` for a cursor whose latest value is no timestamp. */
export const sqliteHighWatermark: Dialect['highWatermark'] = async (session, cursor) => {
  const name = `q."${cursor.name.replaceAll('"', '""')}"`;
  const latestOf = `SELECT max(${name}) FROM ${cursor.from}`;
  const { rows } = await session.run({
    sql: `SELECT coalesce((${latestOf} WHERE ${name} < date('now', '+${seconds('cursorAhead')} seconds')), (${latestOf}))`,
    bindings: [],
  });
  const latest = rows[0]![0] ?? USUAL;
  const format = TIMESTAMP.exec(latest);
  if (format === null) throw noHighWatermark(cursor);
  const [, separator, fraction = '', suffix] = format;
  const type = separator === undefined ? 'date' : suffix === undefined ? 'timestamp' : 'timestamptz';
  const column: CursorColumn = { ...cursor, type };
  const now = Temporal.Now.instant().toString({ fractionalSecondDigits: 9 });
  const text = highWatermarkText(now, column, { digits: fraction.length, utcSuffix: suffix ?? '' });
  return separator === 'T' ? text.replace(' ', 'T') : text;
};
