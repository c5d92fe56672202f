/**
 * Change feeds: which rows of the source have changed, deletes included, as the database itself tells it.
 *
 * A feed gives keys, never values: a change only says that a row is to be looked at again. What is sent depends on the row
 * as it is when it is read, so changes may be reported twice, and in any number at once, without harm.
 */
import type { FeedInstallation, FeedRemoval, PlannedTable } from './feed-installation.js';
import type { FeedTable } from './feed-table.js';
import type { SourceKey } from './source-key.js';

export type { FeedTable } from './feed-table.js';

/** What is done about a feed for which the source keeps too much: people are told, or it is given up, too. */
export const WHEN_EXCEEDED = ['alert', 'reread'] as const;

/** How much the source may keep for a feed. */
export interface FeedLimit {
  readonly maxBytes: number;
  readonly whenExceeded: (typeof WHEN_EXCEEDED)[number];
}

/** Where a feed comes from, as the files declare it. */
export type FeedConfig =
  /** A logical replication slot of PostgreSQL, and the publication that says of which tables it reports keys. */
  | { readonly kind: 'slot'; readonly slot: string; readonly publication: string; readonly limit?: FeedLimit }
  /** A table that triggers fill with the keys of changed rows. */
  | { readonly kind: 'table'; readonly table: string };

/** The name by which the ledger knows the feed of a sync. */
export const feedName = (feed: FeedConfig): string => (feed.kind === 'slot' ? feed.slot : feed.table);

/** null: no limit is declared. */
export const limitOf = (feed: FeedConfig): FeedLimit | null => (feed.kind === 'slot' ? (feed.limit ?? null) : null);

/** How far a feed has been read. The ledger keeps it; only the feed can interpret it. */
export interface FeedPosition {
  /** What the position is of: it changes if the database, or what it keeps of changes, is replaced by another one. */
  readonly origin: string;
  /** All changes up to here have been noted. */
  readonly at: string;
  /**
   * What the source has kept of the last confirmation, if it keeps any: it has less in mind only after it was restored from an older
   * copy.
   */
  readonly confirmed?: string | null;
}

/** Rows of one table that may have changed. */
export interface RowsOfTable {
  readonly table: FeedTable;
  /** The columns whose values identify a row in the feed. */
  readonly columns: readonly string[];
  /** Their values, as a page would have them. Of a row whose key has changed, both keys. A key may occur several times. */
  readonly keys: readonly SourceKey[];
  /** Why nobody can tell which rows have changed, if the feed reports the table and nothing that identifies its rows. */
  readonly problem?: string;
}

/** Some changes, in the order of their commits. */
export interface ChangeGroup {
  readonly rows: readonly RowsOfTable[];
  /** Tables that have been emptied by TRUNCATE: nobody knows which rows they had. */
  readonly truncated: readonly FeedTable[];
  /** Tables of which the feed does not tell each row that has changed. */
  readonly unnamed: readonly FeedTable[];
  /** Up to where the feed is read with this group; null in the middle of a transaction. */
  readonly position: FeedPosition | null;
  /** When the last of these changes was committed, by the source's clock; null if the feed does not tell. */
  readonly committedAt: Date | null;
}

/** How a feed stands, for limits and for people. */
export interface FeedState {
  /** The oldest position from which the feed can still be read; null if it cannot be read at all. */
  readonly position: FeedPosition | null;
  /** Why the feed cannot be read; null if it can. */
  readonly problem: string | null;
  /** Bytes that the source keeps for this feed alone, as far as it tells. */
  readonly keptBytes: number | null;
  /** How many bytes more it will keep before it gives the feed up; null if there is no limit, or the source does not tell. */
  readonly bytesLeft: number | null;
  /** What nobody has read of it: so many bytes, up to this position. null if it cannot be read, or the source does not tell. */
  readonly unread: { readonly bytes: number; readonly through: FeedPosition } | null;
  /** The tables that it reports. */
  readonly tables: readonly ReportedTable[];
}

/** A table that a feed reports. */
export interface ReportedTable extends FeedTable {
  /** Differs once the table was not reported for a while, or is another one of its name; absent if the source does not tell. */
  readonly since?: string;
  /** The columns by which it tells rows from now on, null if there are none; absent if the source does not tell. */
  readonly identity?: readonly string[] | null;
}

/** An open feed. Only one process reads it at a time. */
export interface ChangeFeed {
  /**
   * Looks at the feed without reading it. Throws `source_unreachable`, or `config_invalid` if the account may not look.
   *
   * @param since if given, it is also a problem if changes after this position cannot be read any more
   */
  state(since?: FeedPosition | null): Promise<FeedState>;
  /**
   * The feed's position as it is now, once every change before it can be seen by a query: a reading of all rows that begins
   * afterwards, together with the feed from there, misses nothing. Throws `changes_lost` if there is no such feed,
   * `source_query_failed` if a transaction stays open for too long.
   */
  begin(): Promise<FeedPosition>;
  /**
   * Whether a reading from `position` may find anything. One cheap look: false if nothing was written since a reading has ended
   * there, and nothing is said about whether the feed is still the same.
   */
  mayHaveChanges(position: FeedPosition): Promise<boolean>;
  /**
   * How many changes after `position` are committed, up to `COUNT_BOUND`: what a reading from there would find. null if the
   * source tells only how many bytes they are: {@link FeedState.unread}.
   */
  countUnread(position: FeedPosition): Promise<number | null>;
  /**
   * All changes after `position` that every query can see, up to now; ends when there are no more. Changes of a
   * transaction that is committed, but cannot be seen by queries yet, are left to the next call.
   *
   * @throws PartnerSyncError `changes_lost` if not every change after `position` can be read any more, or it is of another
   *   feed
   */
  read(position: FeedPosition, signal: AbortSignal): AsyncGenerator<ChangeGroup>;
  /**
   * Tells the source that it need not keep changes up to `position` any more. It may forget that it was told, unless it returns
   * what it keeps of it: {@link FeedPosition.confirmed}.
   */
  confirm(position: FeedPosition): Promise<string | null>;
  /** What has to be run so that the feed reports these tables to this account. Reads the catalogue only. */
  installation(tables: readonly PlannedTable[]): Promise<FeedInstallation>;
  /** What has to be run so that nothing of the feed is left. Reads the catalogue only. */
  removal(): Promise<FeedRemoval>;
}
