/**
 * The upper bound of an incremental read of SQLite: the clock. One connection writes at a time, and what it stamped
 * before this moment is committed but for the transaction that is under way: the overlap covers it.
 *
 * Stamps are texts of whatever format the application chose, and compare as texts; so the fence is written like
 * the latest one that is there.
 */
import { Temporal } from 'temporal-polyfill';
import type { CursorColumn, Dialect } from '../dialect.js';
import { fenceText, noFence } from '../fence.js';

const STAMP = /^\d{4}-\d\d-\d\d(?:([ T])\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|\+00(?::?00)?)?)?$/;
const USUAL = '0000-00-00 00:00:00';

export const sqliteFence: Dialect['fence'] = async (session, cursor) => {
  const name = `q."${cursor.name.replaceAll('"', '""')}"`;
  const { rows } = await session.run({ sql: `SELECT max(${name}) FROM ${cursor.from}`, bindings: [] });
  const latest = rows[0]![0] ?? USUAL;
  const format = STAMP.exec(latest);
  if (format === null) throw noFence(cursor);
  const [, separator, fraction = '', suffix] = format;
  const type = separator === undefined ? 'date' : suffix === undefined ? 'timestamp' : 'timestamptz';
  const column: CursorColumn = { ...cursor, type };
  const now = Temporal.Now.instant().toString({ fractionalSecondDigits: 9 });
  const text = fenceText(now, column, { digits: fraction.length, utcSuffix: suffix ?? '' });
  return separator === 'T' ? text.replace(' ', 'T') : text;
};
