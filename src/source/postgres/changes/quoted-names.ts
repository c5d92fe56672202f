/** Names and texts as SQL has them. */
import type { FeedTable } from '../../../domain/source/change-feed.js';

/** Quotes a name for SQL. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Quotes the name of a table with its schema. */
export const quotedTable = ({ schema, name }: FeedTable): string =>
  schema === null ? quotedName(name) : `${quotedName(schema)}.${quotedName(name)}`;

/** A text between quotes. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Names with commas between. */
export const columnList = (columns: readonly string[]): string => columns.map(quotedName).join(', ');
