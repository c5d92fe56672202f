/**
 * What a kind of database must provide for a change table: a table of the partner's database that triggers fill with the keys
 * of changed rows, and a table of one row beside it that says which change table this is, and up to where rows were deleted.
 *
 * Places in a change table are texts that only the kind of database can interpret.
 */
import type { FeedPosition, ReportedTable } from '../../domain/source/change-feed.js';
import type { FeedInstallation, FeedRemoval, PlannedTable } from '../../domain/source/feed-installation.js';

/** Why a change table cannot be read. `isLost`: what was not read yet can never be read any more. */
export interface TableProblem {
  readonly text: string;
  readonly isLost: boolean;
}

/** Which change table this is, and from where it can be read. */
export interface TableIdentity {
  /** Another one if the database or the change table is replaced. */
  readonly origin: string;
  /** Rows up to here have been deleted. */
  readonly pruned: string;
}

/** A change table at one moment. */
export interface TableStatus {
  readonly problem: TableProblem | null;
  /** null if there is no change table that could be read. */
  readonly identity: TableIdentity | null;
  /** No place in this change table is beyond this one. */
  readonly end: string;
  /** The size of the table. */
  readonly keptBytes: number | null;
  /** The tables with triggers. `since` differs once they were made again. */
  readonly tables: readonly ReportedTable[];
}

/** A row of the change table. */
export interface RecordedRow {
  /** See {@link recordedSource}. */
  readonly source: string;
  /** The key of the changed row, or both if it has changed; null if the table was emptied by TRUNCATE. */
  readonly keys: readonly RecordedKey[] | null;
}

/** A key as the trigger has written it; null stands for NULL, which no key of a mapping has. */
export type RecordedKey = readonly (string | null)[];

/** Some rows in their order. */
export interface RecordedPage {
  readonly rows: readonly RecordedRow[];
  /** All rows up to here have been read. */
  readonly at: string;
}

/** The change table of one kind of database. Its methods throw as a source does. */
export interface ChangeTable {
  status(): Promise<TableStatus>;
  /** A place after which every change is told that a query may not see yet. */
  start(): Promise<string>;
  /** Throws `source_relation_missing` if there is no such table. */
  identity(): Promise<TableIdentity>;
  /** Whether the account may delete rows that have been read. */
  canPrune(): Promise<boolean>;
  /** Negative if `one` is before `other`. */
  compare(one: string, other: string): number;
  /**
   * How many rows after a place a query sees, which may wait for older ones; counts no further than `bound`. Throws
   * `source_relation_missing` as above.
   */
  countRowsAfter(at: string, bound: number): Promise<number>;
  /**
   * The rows after a place that every query sees, up to now. No row is ever added before a place that a page has reached.
   * The last page, which may be empty, has the place up to which everything was read.
   */
  pages(at: string, signal: AbortSignal): AsyncGenerator<RecordedPage>;
  /** Deletes the rows up to a position, of which the table has just been, and keeps in mind that it did. */
  prune(position: FeedPosition): Promise<void>;
  installation(tables: readonly PlannedTable[]): Promise<FeedInstallation>;
  removal(): Promise<FeedRemoval>;
}

/** How many rows of a change table are read at once. */
export const PAGE_ROWS = 10_000;
