/** The fence as text of the cursor's own type, from the point in time that a dialect has found. */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError } from '../domain/errors.js';
import type { CursorColumn } from './dialect.js';
import { earliestLocalTime, stampText } from './local-time.js';

/** Seconds behind the clock where open transactions cannot be seen. */
export const UNSEEN_TRANSACTIONS_DELAY = 30;

/** The zone in which a day begins last: until then, somewhere, rows are stamped with the day before. */
const WESTERNMOST = '-12:00';

/** How a dialect writes a stamp: digits after the second, and what follows a stamp in UTC. */
export interface StampFormat {
  readonly digits: number;
  readonly utcSuffix: string;
}

/**
 * `instant` is RFC 3339. Cut to the digits of the column, so that a row stamped later in the same second or
 * millisecond is not behind the fence.
 */
export function fenceText(instant: string, cursor: CursorColumn, { digits, utcSuffix }: StampFormat): string {
  const at = Temporal.Instant.from(instant);
  const like = `0000-00-00 00:00:00${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`;
  switch (cursor.type) {
    case 'timestamptz':
      return stampText(at.toZonedDateTimeISO('UTC').toPlainDateTime(), like) + utcSuffix;
    case 'timestamp':
      if (cursor.zone === null)
        throw new PartnerSyncError(
          'config_invalid',
          `the cursor ${cursor.name} is ${cursor.databaseType}, local time of no known zone; name it in the mapping with cursor.zone, such as Europe/London`,
        );
      return stampText(earliestLocalTime(at, cursor.zone), like);
    case 'date':
      return stampText(earliestLocalTime(at, cursor.zone ?? WESTERNMOST), '0000-00-00');
    default:
      throw noFence(cursor);
  }
}

export const noFence = (cursor: CursorColumn): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `the cursor ${cursor.name} is ${cursor.databaseType}: nothing tells which of its values are still to be committed; use a column with the time of the last change, or mode full`,
  );
