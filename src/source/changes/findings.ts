/** Findings that change tables of all databases have in common. */
import type {
  FeedFinding,
  FeedFindingKind,
  InstallationStatement,
  PlannedTable,
} from '../../domain/source/feed-installation.js';
import type { UnusableColumn } from './key-texts.js';

/** A reason why a table cannot be told. */
export const blocking = (
  kind: FeedFindingKind,
  planned: PlannedTable,
  text: string,
  fix: string | null = null,
): FeedFinding => ({ kind, planned, table: planned.table, blocks: true, text, fix });

/** Something to know about a table. */
export const toKnow = (kind: FeedFindingKind, planned: PlannedTable, text: string): FeedFinding => ({
  ...blocking(kind, planned, text),
  blocks: false,
});

/** A reason why the database cannot have a change table. */
export const ofServer = (kind: FeedFindingKind, text: string): FeedFinding => ({
  kind,
  planned: null,
  table: null,
  blocks: true,
  text,
  fix: null,
});

/** A part that is there, and not as it has to be. */
export const differs = (text: string, fix: string | null): FeedFinding => ({ ...ofServer('part-differs', text), fix });

export const missingTable = (planned: PlannedTable): FeedFinding =>
  blocking('table-missing', planned, 'there is no such table, or none that this account can see');

export const unusableKey = (planned: PlannedTable, { column, databaseType }: UnusableColumn): FeedFinding =>
  blocking('key-type', planned, `${column} is ${databaseType}, of which a query may have another text than a trigger`);

/** Nobody else deletes rows of the change table. */
export const notPruned = (fix: string | null): FeedFinding => ({
  kind: 'not-pruned',
  planned: null,
  table: null,
  blocks: false,
  text: 'the account may not delete rows of the change table that it has read, so that the table grows without end',
  fix,
});

/** What triggers cost, as long as there are some to be made. */
export const costOf = (statements: readonly InstallationStatement[]): FeedFinding[] =>
  statements.some(({ sql }) => sql.startsWith('CREATE TRIGGER'))
    ? [
        {
          kind: 'cost',
          planned: null,
          table: null,
          blocks: false,
          text: 'with its triggers, bulk writes to a table take 1.2 to 6 times as long, and single rows some tenths of a millisecond more',
          fix: null,
        },
      ]
    : [];
