/** What a kind of database must provide to be read as a {@link DatabaseSource}: data where possible, functions otherwise. */
import type { ChangeFeed, FeedConfig } from '../domain/source/change-feed.js';
import type { FeedTable } from '../domain/source/feed-table.js';
import type { SourceServer } from '../domain/source/source-catalog.js';
import type { ErrorCode } from '../domain/errors.js';
import type { Rows, SourceRow, SourceType } from '../domain/source/source.js';
import type { CatalogRows } from './tables-from-catalog.js';

/** A value that is bound to a placeholder of a statement. */
export type Binding = string | number | bigint | Buffer | null | readonly string[];

/** One statement; `bindings` in the order of its placeholders. */
export interface Query {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/** Adds a value to the bindings and returns its placeholder. */
export type Bind = (value: Binding) => string;

/** A column's type, and how the dialect selects and compares its values. */
export interface ColumnType {
  readonly type: SourceType;
  readonly databaseType: string;
  /** Set if values may be of other types than the column. */
  readonly hasOtherTypes?: true;
  /** Selects the column so that its text is exact, if the plain name does not give that. */
  readonly select?: (name: string) => string;
  /** Orders and compares the column, if the plain name does both differently. */
  readonly order?: (name: string) => string;
  /** Values that are unique in the column may be equal in that order. */
  readonly mayTie?: boolean;
  /** Turns the text that the database gives into the form that the product promises (see {@link SourceType}). */
  readonly finish?: (text: string) => string;
  /**
   * Tells apart values that differ and yet compare equal (collations that ignore case, accents or blanks).
   * Absent if equal values are identical.
   */
  readonly tieBreak?: (sql: string) => string;
}

/** One field of a result; `code` identifies its type for {@link Session.typesOf}. */
export interface RawField {
  readonly name: string;
  readonly code: string;
}

/** The rows of one statement, as text, before any {@link ColumnType.finish}. */
export interface RawPage<R extends Rows = readonly SourceRow[]> {
  readonly rows: R;
  readonly fields: readonly RawField[];
  /** Rows were left out, because the page was over its budget. */
  readonly cut?: boolean;
  /** What {@link PageOptions.lookUp} asks for was not there. */
  readonly notFound?: boolean;
}

/** Asks for a row of a page by values of it; the query has the page's columns. */
export interface LookUp {
  readonly index: number;
  readonly query: Query;
}

/** How a page that may be large is read. */
export interface PageOptions {
  /** The statement is prepared under this name, once a connection, if the database supports that. */
  readonly name?: string;
  /** About this many characters are kept in memory; rows beyond them are dropped and {@link RawPage.cut} is set. */
  readonly budget?: number;
  /**
   * The row of the page that is looked up, in the page's transaction, if it has one to be looked up. Only a database that keeps values of
   * any type in any column has to: elsewhere, a value that was read is always found.
   */
  readonly lookUp?: (page: Pick<RawPage, 'rows' | 'cut'>) => LookUp | null;
}

/** A pool of read-only sessions. It throws the driver's own errors, which {@link Dialect.classify} understands. */
export interface Session {
  run(query: Query): Promise<RawPage>;
  /** For large results: rows may be decoded only when they are looked at. */
  run(query: Query, options: PageOptions): Promise<RawPage<Rows>>;
  typesOf(codes: readonly string[]): Promise<ReadonlyMap<string, ColumnType>>;
  /**
   * Takes a connection out of the pool for several statements, each of which the server may take `within` milliseconds
   * for. Absent if no feed of the database needs it.
   */
  take?(within: number): Promise<TakenSession>;
  /**
   * Runs statements in a transaction that may write, each of which may take `within` milliseconds: a change table is told with
   * it what need not be kept. Absent if no feed of the database needs it.
   */
  write?(statements: readonly Query[], within: number): Promise<void>;
  /** How many connections are in use. */
  connections(): number;
  close(): Promise<void>;
}

/** One connection of the pool, for statements that belong together. */
export interface TakenSession extends Pick<Session, 'run' | 'typesOf'> {
  /** The codes of the warnings that the server has sent on this connection since it was taken. */
  readonly warnings: readonly string[];
  /** Rolls back what is open, and returns the connection to the pool. */
  release(): Promise<void>;
  /** Ends the connection at once, which fails the statement in progress. It is still to be released. */
  abandon(): void;
}

/** A connected database, as far as a feed needs it. */
export interface FeedDatabase {
  readonly session: Session;
  /** Runs `work`, again after a lost session, and turns what the driver throws into our errors. */
  attempt<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** The same, once: for statements of a connection that is taken. */
  once<T>(what: string, work: () => Promise<T>): Promise<T>;
}

/** A driver's error as one of the catalogue; `shown` is the driver's code, never its text, which may quote rows. */
export interface Classified {
  readonly code: ErrorCode;
  readonly shown: string;
  /** What the database says of a name that it does not know, with its hint: such a message quotes the SQL, never rows. */
  readonly unknownName?: string;
  /** The statement timeout was reached: asking for fewer rows may help. */
  readonly timedOut?: boolean;
  /** A bound value is not of the column's type, so no row can have it. */
  readonly unfitValue?: boolean;
}

/** A cursor column as the database declares it, with what the mapping says of it. */
export interface CursorColumn extends ColumnType {
  readonly name: string;
  readonly zone: string | null;
  /** The relation that it is read from, ready for FROM. */
  readonly from: string;
}

/** One kind of database. */
export interface Dialect {
  readonly name: string;
  quote(name: string): string;
  /** A bound of a column of `type`, as the database wrote it or a person typed it. Throws `config_invalid`. */
  value(type: ColumnType, text: string, bind: Bind): string;
  placeholder(index: number): string;
  /** Whether `(a, b) > (x, y)` is understood and uses an index. */
  readonly comparesRows: boolean;
  /** The class of a value, for a database in which a column of a view may have values that it compares by different rules. */
  readonly classOf?: (value: string) => string;
  /** Whether one statement may give a row twice, if its cursor grows while rows are read in that order. */
  readonly repeatsMovedRows?: boolean;
  /** The limit of rows that follows SELECT, if the dialect has it there; with a blank at its end. */
  readonly top?: (rows: number) => string;
  /** The limit of rows at the end of the query; empty if `top` does it. */
  limit(rows: number, bind: Bind): string;
  /** The catalogue's error for what the driver threw. */
  classify(error: unknown): Classified;
  /** The high watermark in the cursor's own terms; see `Source.highWatermark`. */
  highWatermark(session: Session, cursor: CursorColumn): Promise<string>;
  server(session: Session): Promise<SourceServer>;
  /** The tables that the query reads; absent if the database does not tell. */
  tablesRead?(session: Session, sql: string): Promise<readonly FeedTable[]>;
  /** Opens a feed; throws `config_invalid` for a kind that the database does not have. Absent if it has none. */
  changes?(database: FeedDatabase, config: FeedConfig): ChangeFeed;
  /** `names`: bare table names, or null for all. */
  catalog(session: Session, names: readonly string[] | null): Promise<CatalogRows>;
  /** The kind of a column of the catalogue, as far as the name of its type tells. */
  kindOf(databaseType: string, hint: string | null): SourceType;
}
