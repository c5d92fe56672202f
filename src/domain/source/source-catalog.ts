/** What a source says about itself: its server, and the tables and views that the account can see. */
import type { SourceColumn } from './source-column.js';

/** The database server, as the account sees it. */
export interface SourceServer {
  /** `PostgreSQL`, `MariaDB`, `MySQL`, `SQLite` or `SQL Server`. */
  readonly product: string;
  readonly version: string;
  /** The account's name in the database; null if it has no accounts, as SQLite. */
  readonly account: string | null;
  /** The database's clock, RFC 3339 in UTC, to the microsecond if the database has it so exact. */
  readonly clock: string;
  /**
   * The database's own time zone, in which it sets the time of columns without a zone by itself; null if it does not
   * say.
   */
  readonly timeZone: string | null;
  /** A standby lags behind its primary: what was committed there may not be here yet. */
  readonly standby: boolean;
  /**
   * Whether the account sees all open transactions of others. If not, the high watermark keeps a fixed distance from
   * the clock, and rows of a transaction that stays open longer may be skipped.
   */
  readonly seesOpenTransactions: boolean;
  /** What to grant for that; null if the account sees them already, or if no grant would help. */
  readonly grantForOpenTransactions: string | null;
}

/** A column as the catalog describes it. */
export interface CatalogColumn extends SourceColumn {
  readonly nullable: boolean;
  /** The default as the database writes it; null if there is none. */
  readonly default: string | null;
  /** The database computes the value from other columns. */
  readonly generated: boolean;
  readonly comment: string | null;
}

/** An index; an expression in it counts as null. Indexes over a part of the rows are not listed. */
export interface CatalogIndex {
  readonly name: string;
  readonly columns: readonly (string | null)[];
  readonly unique: boolean;
}

/** A foreign key, of one or more columns. */
export interface CatalogForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** The parent's table as a mapping writes it, and its columns in the same order. */
  readonly table: string;
  readonly parentColumns: readonly string[];
}

/** A table or view that the account can see. */
export interface SourceTable {
  /** As a mapping writes it in `source.table`. */
  readonly table: string;
  /** null if the database has no schemas. */
  readonly schema: string | null;
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly comment: string | null;
  /** The planner's estimate; null if there is none. */
  readonly estimatedRows: number | null;
  /** In the table's own order. */
  readonly columns: readonly CatalogColumn[];
  /** Empty if there is none. */
  readonly primaryKey: readonly string[];
  /** Sets of columns that identify a row: the primary key first, then unique keys; none with a nullable column. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly indexes: readonly CatalogIndex[];
  /** Whether the account may read every column. */
  readonly readable: boolean;
  /** What else the account may do: `INSERT`, `UPDATE`, `DELETE`, `TRUNCATE`; empty for an account that only reads. */
  readonly writes: readonly string[];
}
