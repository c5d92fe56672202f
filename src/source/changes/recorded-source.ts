/**
 * What a row of a change table is about, as triggers write it: a JSON array of the table's schema, its name, and the columns
 * of the key. So rows that were recorded before the key of a mapping was changed are not mistaken.
 */
import { createHash } from 'node:crypto';
import type { FeedTable } from '../../domain/source/change-feed.js';
import type { PlannedTable } from '../../domain/source/feed-installation.js';

/** The text. */
export const recordedSource = ({ table: { schema, name }, key }: PlannedTable): string =>
  JSON.stringify([schema, name, ...key]);

/** The inverse of {@link recordedSource}. */
export function parseRecordedSource(text: string): PlannedTable {
  const [schema, name, ...key] = JSON.parse(text) as [string | null, string, ...string[]];
  return { table: { schema, name }, key };
}

/** A part of names that tells tables apart: a name of a trigger or a function has no room for that of its table. */
export const tableMark = ({ schema, name }: FeedTable): string =>
  createHash('sha256')
    .update(JSON.stringify([schema, name]))
    .digest('hex')
    .slice(0, 8);
