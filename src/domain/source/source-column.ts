/** A column of a source, and the kinds of column that mappings distinguish. */

/** The kinds of column that mappings distinguish; each dialect translates its own types into these. */
export const SOURCE_TYPES = [
  'text',
  'integer',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'timestamp', // without a zone: the mapping must declare which
  'timestamptz', // as text in UTC, since the session's zone is pinned
  'uuid',
  'json',
  'bytes',
  'other',
] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

export interface SourceColumn {
  readonly name: string;
  readonly type: SourceType;
  /** The database's own name of the type, for messages: `numeric(12,2)`. */
  readonly databaseType: string;
  /** Set if values may be of other types than the column: in SQLite, a column of integers may contain texts. */
  readonly hasOtherTypes?: true;
}
