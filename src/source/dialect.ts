/** What one kind of database has to say so that {@link openDatabase} can read it: data first, functions where data will not do. */
import type { SourceServer } from '../domain/source-catalog.js';
import type { ErrorCode } from '../domain/errors.js';
import type { Rows, SourceRow, SourceType } from '../domain/source.js';
import type { CatalogRows } from './catalog.js';

export type Binding = string | number | bigint | Buffer | null | readonly string[];

export interface Query {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/** Notes a value and gives the placeholder that stands for it. */
export type Bind = (value: Binding) => string;

export interface ColumnType {
  readonly type: SourceType;
  readonly databaseType: string;
  /** Selects the column so that its text is exact, where the plain name does not. */
  readonly select?: (name: string) => string;
  /** Orders and compares the column, where the plain name does both differently. */
  readonly order?: (name: string) => string;
  /** The last touch to a value's text. */
  readonly finish?: (text: string) => string;
  /**
   * Tells apart values that differ and yet compare equal (collations that ignore case, accents or blanks).
   * Absent where equal means the same.
   */
  readonly tieBreak?: (sql: string) => string;
}

/** One field of an answer; `code` is whatever names its type for {@link Session.typesOf}. */
export interface RawField {
  readonly name: string;
  readonly code: string;
}

export interface RawPage<R extends Rows = readonly SourceRow[]> {
  readonly rows: R;
  readonly fields: readonly RawField[];
  /** Rows were left out, because the page was over its budget. */
  readonly cut?: boolean;
}

export interface PageOptions {
  /** Prepared under this name, once per connection, where the database can. */
  readonly name?: string;
  /** About so many characters are kept in memory; the rows beyond are left out. */
  readonly budget?: number;
}

/** A pool of read-only sessions. What it throws, {@link Dialect.classify} understands. */
export interface Session {
  run(query: Query): Promise<RawPage>;
  /** For what may be much: its rows may be decoded when they are looked at. */
  run(query: Query, options: PageOptions): Promise<RawPage<Rows>>;
  typesOf(codes: readonly string[]): Promise<ReadonlyMap<string, ColumnType>>;
  close(): Promise<void>;
}

/** A driver's error in our words; `shown` is its code, never its text, which may quote rows. */
export interface Classified {
  readonly code: ErrorCode;
  readonly shown: string;
  /** Asking for less may help. */
  readonly timedOut?: boolean;
  /** A value of ours is none of the column's type: no row has it. */
  readonly unfitValue?: boolean;
}

/** A cursor as the database declares it, with what the mapping declares of it. */
export interface CursorColumn extends ColumnType {
  readonly name: string;
  readonly zone: string | null;
  /** The relation that it is read from, ready for FROM. */
  readonly from: string;
}

export interface Dialect {
  readonly name: string;
  quote(name: string): string;
  /** A bound of a column of `type`, as the database wrote it or a person typed it. Throws `config_invalid`. */
  value(type: ColumnType, text: string, bind: Bind): string;
  placeholder(index: number): string;
  /** Whether `(a, b) > (x, y)` is understood and uses an index. */
  readonly comparesRows: boolean;
  /** What stands behind SELECT to end a query after `rows` rows, where the database says it there. */
  readonly top?: (rows: number) => string;
  /** What stands at the end of the query to the same end. */
  limit(rows: number, bind: Bind): string;
  classify(error: unknown): Classified;
  /** The fence in the cursor's own terms; see `Source.fence`. */
  fence(session: Session, cursor: CursorColumn): Promise<string>;
  server(session: Session): Promise<SourceServer>;
  /** `names`: bare table names, or null for all. */
  catalog(session: Session, names: readonly string[] | null): Promise<CatalogRows>;
  /** The kind of a column of the catalogue, where the name of its type says it. */
  kindOf(databaseType: string, hint: string | null): SourceType;
}
