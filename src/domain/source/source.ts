/**
 * The source as the rest of the product sees it: pages of text values, ordered by key.
 *
 * Every value arrives as the database's own text, or null (ADR 0006). A driver that parses loses microseconds (Date),
 * digits (float) and infinities; text loses nothing and costs least.
 */
import type { ChangeFeed, FeedConfig } from './change-feed.js';
import type { FeedTable } from './feed-table.js';
import type { SourceServer, SourceTable } from './source-catalog.js';
import type { SourceColumn } from './source-column.js';
import type { SourceKey } from './source-key.js';

export type { SourceKey } from './source-key.js';
export { SOURCE_TYPES, type SourceColumn, type SourceType } from './source-column.js';

/** One row: a value per column of the page, as text, or null for SQL NULL. */
export type SourceRow = readonly (string | null)[];

/** Rows to be iterated once or twice at most: some are decoded anew each time. */
export interface Rows extends Iterable<SourceRow> {
  readonly length: number;
  /** As `Array.at`. */
  at(index: number): SourceRow | undefined;
  /** If the rows are still bytes: the one at this index, valid until another one is asked for. */
  readonly inBytes?: (index: number) => ByteRow;
}

/** A row as the database sent it: for each column a text in UTF-8, unless the database contains something else. */
export interface ByteRow {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  /** Negative for SQL NULL. */
  readonly ends: Int32Array;
  /** The value of a column as text. */
  text(column: number): string | null;
  /** The same row as texts. */
  texts(): SourceRow;
}

/** A place in the reading order. `cursor` is null if a range is read by key alone. */
export interface RowPosition {
  readonly cursor: string | null;
  readonly key: SourceKey;
}

/** What is read: a table (optionally with its schema) or a read-only query. */
export type Relation = { readonly table: string } | { readonly query: string };

/** A mapping's reading order: which columns, from where, in which order. */
export interface ReadPlan {
  readonly relation: Relation;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** Cursor column; null when reading by key alone (`full`, key ranges). */
  readonly cursor: string | null;
  /** IANA name of the zone whose local time a cursor without a zone contains, as the mapping declares it. */
  readonly cursorZone?: string | null;
  /** Whether a key that several rows have is read once, and rows without one are left out; all columns are of the key. */
  readonly distinct?: boolean;
  /** Whether rows of one page may share a key, since whoever reads them counts such rows. */
  readonly countsSharedKeys?: boolean;
}

/** The bounds of a range, each null if there is none. Bounds of the key exclude below and include above. */
export interface ReadBounds {
  readonly after: RowPosition | null;
  /** Inclusive lower bound of the cursor column, as text (overlap, backfill `from`). */
  readonly cursorFrom: string | null;
  /** Exclusive upper bound of the cursor column, as text (the high watermark, backfill `to`). */
  readonly cursorBefore: string | null;
  /** Inclusive upper bound of the key. */
  readonly throughKey: SourceKey | null;
  /** If given, only rows whose columns, some of the plan's, have one of these combinations of values. */
  readonly whereIn?: { readonly columns: readonly string[]; readonly values: readonly SourceKey[] };
}

/** How many rows have a value in a column. */
export interface ValueCount {
  /** null for SQL NULL. */
  readonly value: string | null;
  readonly rows: number;
}

export interface Page {
  readonly columns: readonly SourceColumn[];
  readonly rows: Rows;
}

/** The bounds of one key range of a split table: `after < key <= through`, null meaning open. */
export interface KeyRange {
  readonly after: SourceKey | null;
  readonly through: SourceKey | null;
}

/** A partner's database, opened for reading only. Every method fails fast rather than hanging. */
export interface Source {
  /** Columns of the relation, with their types. Throws `source_unreachable` or `source_relation_missing`. */
  describe(relation: Relation): Promise<readonly SourceColumn[]>;
  /**
   * One page in reading order. An empty page, and only that, means the end: a page may be shorter than `limit` if rows
   * are wide or the database is slow. Reads again by itself after a lost session or a lock. Throws
   * `source_key_unusable` if the key is NULL, or shared by two rows of the page or by the last row and the next.
   */
  readPage(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page>;
  /** The rows whose `columns[i]` values equal one of `values`, in key order. Throws `source_key_unusable` if two share their key. */
  readByValues(plan: ReadPlan, columns: readonly string[], values: readonly SourceKey[]): Promise<Page>;
  /**
   * The upper bound up to which a run in mode `incremental` may read, as text: as far as the database can tell, nothing
   * that is committed later has an older cursor value.
   */
  highWatermark(plan: ReadPlan): Promise<string>;
  /** How many rows within the bounds have which value in a column of the plan. It looks at each of these rows. */
  countByValue(plan: ReadPlan, column: string, bounds: ReadBounds): Promise<readonly ValueCount[]>;
  /** Whether some row has NULL in the column. */
  hasNull(plan: ReadPlan, column: string): Promise<boolean>;
  /**
   * `cursor`, in its own format, moved back by `seconds`, or ahead if they are negative; a value that is not a point in time stays as it
   * is. null if nothing was changed so early, so that a value of it may not be one of the column's type.
   */
  cursorMinus(plan: ReadPlan, cursor: string, seconds: number): Promise<string | null>;
  /** Splits the key space into ranges of about `rows` rows; one open range if it cannot. */
  splitKeys(plan: ReadPlan, rows: number): Promise<readonly KeyRange[]>;
  /** The server, its version and clock, and whether the high watermark can be exact. */
  server(): Promise<SourceServer>;
  /**
   * Tables and views outside the system's schemas, or only those with these names (as a mapping writes them); names
   * that do not exist are left out.
   */
  tables(names?: readonly string[]): Promise<readonly SourceTable[]>;
  /** The tables that a query or a view reads, by their own names; null if the database does not tell. */
  tablesRead(relation: Relation): Promise<readonly FeedTable[] | null>;
  /**
   * Opens a feed of the changed rows; it connects when it is used, with connections of the pool, and needs no closing. Throws
   * `config_invalid` if this database has no feed of that kind.
   */
  changes(config: FeedConfig): ChangeFeed;
  /** How many connections of the pool are in use. */
  connections(): Promise<number>;
  close(): Promise<void>;
}
