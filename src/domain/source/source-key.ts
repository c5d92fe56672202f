/** The values that identify a row of the source. */

/** The values of the key columns, in the mapping's order. Compared only by the database (collations!). */
export type SourceKey = readonly string[];
