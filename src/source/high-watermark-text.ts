/** Writes the high watermark, a point in time that a dialect has found, as text of the cursor's own type. */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError } from '../domain/errors.js';
import type { CursorColumn } from './dialect.js';
import { earliestLocalTime, timestampText, WESTERNMOST } from './cursor-time.js';
import { seconds } from '../domain/timeouts.js';

/** Seconds that the high watermark stays behind the clock if open transactions cannot be seen. */
export const UNSEEN_TRANSACTIONS_DELAY = seconds('unseenTransactions');

/** How a dialect writes a timestamp: digits of a fraction of a second, and the suffix of one in UTC. */
export interface TimestampFormat {
  readonly digits: number;
  readonly utcSuffix: string;
}

/**
 * The high watermark of a cursor at `instant` (RFC 3339). Truncated to the digits of the column, so that a row written
 * later in the same second or millisecond is not below it. Throws `config_invalid` if the column's type, or a missing
 * `cursor.zone`, leaves the point in time unknown.
 */
export function highWatermarkText(
  instant: string,
  cursor: CursorColumn,
  { digits, utcSuffix }: TimestampFormat,
): string {
  const at = Temporal.Instant.from(instant);
  const like = `0000-00-00 00:00:00${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`;
  switch (cursor.type) {
    case 'timestamptz':
      return timestampText(at.toZonedDateTimeISO('UTC').toPlainDateTime(), like) + utcSuffix;
    case 'timestamp':
      if (cursor.zone === null)
        throw new PartnerSyncError(
          'config_invalid',
          `the cursor ${cursor.name} is ${cursor.databaseType}, local time of no known zone; name it in the mapping with cursor.zone, such as Europe/London`,
        );
      return timestampText(earliestLocalTime(at, cursor.zone), like);
    case 'date':
      return timestampText(earliestLocalTime(at, cursor.zone ?? WESTERNMOST), '0000-00-00');
    default:
      throw noHighWatermark(cursor);
  }
}

/** The error of a cursor whose type says nothing of time. */
export const noHighWatermark = (cursor: CursorColumn): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `the cursor ${cursor.name} is ${cursor.databaseType}: such values do not tell which rows are still to be committed; use a column with the time of the last change, or mode full`,
  );
