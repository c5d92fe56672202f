/** What is wrong with a change feed, and how far a sync is behind that goes by feeds: said from what the ledger knows. */
import { formatSeconds } from '../values/duration.js';
import { formatBytes, quantityToBound } from '../values/quantity.js';

/** A change feed as it stood when the source was last asked. */
export interface WatchedFeed {
  readonly name: string;
  /** Bytes that the source keeps for it, those of them that nobody has read, and the limit; null where there is none. */
  readonly keptBytes: number | null;
  readonly unreadBytes: number | null;
  readonly maxBytes: number | null;
  /** Why it cannot be read, or not from where it was left; null if it can. */
  readonly problem: string | null;
  /** Why it was given up; null if it was not, or has begun again since. */
  readonly givenUp: string | null;
  /** When it was last read to its end; null if it never was. */
  readonly readAt: Date | null;
}

/** How far a sync is behind that a run in mode `live` works on. */
export interface LiveLag {
  /** Up to when all changes are delivered; null until every row was read once. */
  readonly deliveredUntil: Date | null;
  /** Rows that have changed, and are still to be delivered; up to `COUNT_BOUND` for each mapping. */
  readonly changedRows: number;
}

/** Why a feed with a limit cannot be read; null if it can. A run that fails for one without says so itself. */
export const unreadable = ({ name, maxBytes, problem, readAt }: WatchedFeed, now: Date): string | null =>
  maxBytes === null || problem === null
    ? null
    : `the change feed ${name} cannot be read: ${problem} (${lastRead(readAt, now)})`;

/** Whether the source keeps more for a feed than its limit. */
export const exceedsLimit = ({ keptBytes, maxBytes }: Pick<WatchedFeed, 'keptBytes' | 'maxBytes'>): boolean =>
  keptBytes !== null && maxBytes !== null && keptBytes > maxBytes;

/** That the source keeps more for a feed than its limit, or that the feed was given up for it; null if neither is so. */
export function behind(feed: WatchedFeed, now: Date): string | null {
  const { name, keptBytes, unreadBytes, maxBytes, givenUp, readAt } = feed;
  if (maxBytes === null) return null;
  if (givenUp !== null) return `${givenUp}; the next run reads every row`;
  if (keptBytes === null || !exceedsLimit(feed)) return null;
  const isRead = unreadBytes !== null && unreadBytes <= maxBytes;
  const remedy = isRead
    ? ', most of which was read: end transactions that stay open in the source'
    : ': let a run read it, or remove it';
  return `the source keeps ${formatBytes(keptBytes)} of its log for the change feed ${name} (limit ${formatBytes(maxBytes)}; ${lastRead(readAt, now)})${remedy}`;
}

/** `change feed shop: last read to its end 2.0s ago; the source keeps 22.3 KiB of its log, 1.0 KiB unread (limit 10.0 GiB)`. */
export function feedLine({ name, keptBytes, unreadBytes, maxBytes, readAt }: WatchedFeed, now: Date): string {
  const unread = unreadBytes === null ? '' : `, ${formatBytes(unreadBytes)} unread`;
  const limit = maxBytes === null ? '' : ` (limit ${formatBytes(maxBytes)})`;
  const kept = keptBytes === null ? [] : [`the source keeps ${formatBytes(keptBytes)} of its log${unread}${limit}`];
  return [`change feed ${name}: ${lastRead(readAt, now)}`, ...kept].join('; ');
}

const lastRead = (readAt: Date | null, now: Date): string =>
  readAt === null ? 'it was never read to its end' : `last read to its end ${formatSeconds(ageOf(readAt, now))} ago`;

/** `delivered up to 2.0s ago; 3 changed rows to go`. */
export const lagLine = ({ deliveredUntil, changedRows }: LiveLag, now: Date): string =>
  [
    deliveredUntil === null
      ? 'every row is being read'
      : `delivered up to ${formatSeconds(ageOf(deliveredUntil, now))} ago`,
    rowsLeft(changedRows, 'changed row'),
  ].join('; ');

/** `3 changed rows to go`. */
export const rowsLeft = (rows: number, one: string): string =>
  rows === 0 ? 'nothing to go' : `${quantityToBound(rows, one)} to go`;

/** In seconds; never negative. */
export const ageOf = (time: Date, now: Date): number => Math.max(0, (now.getTime() - time.getTime()) / 1000);
