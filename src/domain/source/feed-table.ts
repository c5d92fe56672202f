/** Names of tables, as change feeds have them. */

/** A table of which a feed reports changes. */
export interface FeedTable {
  /** null if the database has no schemas. */
  readonly schema: string | null;
  readonly name: string;
}

/** Whether both names are of one table. */
export const isSameTable = (one: FeedTable, other: FeedTable): boolean =>
  one.schema === other.schema && one.name === other.name;
