/** What installing a change feed takes: what speaks against it, and the statements that somebody has to run. */
import { groupBy } from '../values/group-by.js';
import { isSameTable, type FeedTable } from './feed-table.js';

/** A table that a feed is to report, and the columns whose values a mapping needs of its rows. */
export interface PlannedTable {
  readonly table: FeedTable;
  readonly key: readonly string[];
}

/** What can be found. */
export type FeedFindingKind =
  | 'server-version'
  | 'standby'
  | 'wal-level'
  | 'no-free-slot'
  | 'log-unlimited'
  /** The limit of the files is above that of the server. */
  | 'limit-too-high'
  | 'idle-limit'
  | 'table-missing'
  | 'not-publishable'
  | 'children'
  | 'no-primary-key'
  | 'identity-full'
  | 'identity-nothing'
  | 'identity-index'
  | 'other-key'
  | 'key-type'
  /** A part that is installed already is not as it has to be. */
  | 'part-differs'
  /** A table of the publication that reports more columns than its key. */
  | 'more-columns'
  /** Changes that no trigger sees. */
  | 'not-recorded'
  /** Nobody deletes what has been read. */
  | 'not-pruned'
  /** Several servers take writes, and no one of them knows when a row of the change table is the next. */
  | 'several-writers'
  /** What the feed costs the partner's own program. */
  | 'cost';

/** One reason against a feed, or something to know about it. */
export interface FeedFinding {
  readonly kind: FeedFindingKind;
  /** The planned table that it is about; null if it is about the server, or a part of the feed. */
  readonly planned: PlannedTable | null;
  /** The table itself, which may be a partition of the planned one. */
  readonly table: FeedTable | null;
  /** Whether nothing must be installed as long as this is so; otherwise it is something to know. */
  readonly blocks: boolean;
  readonly text: string;
  /** SQL that corrects it, if there is one. */
  readonly fix: string | null;
}

/** One statement, to be run by itself: a slot cannot be created in a transaction that has written something. */
export interface InstallationStatement {
  readonly sql: string;
  /** One line about what it is for. */
  readonly why: string;
}

/** How a feed stands, and what has to be run so that it can be read. */
export interface FeedInstallation {
  /** Which database of which server it is about, to be compared only. */
  readonly database: string;
  readonly findings: readonly FeedFinding[];
  /** In their order; empty if all is there. */
  readonly statements: readonly InstallationStatement[];
  /** Tables that the feed does not report; null if the part is missing that would say which it reports. */
  readonly missingTables: readonly PlannedTable[] | null;
}

/** What removes a feed. */
export type FeedRemoval = Pick<FeedInstallation, 'database' | 'statements'>;

/** A connection that may change the partner's database, for statements that a person has asked for. */
export interface SourceAdministrator {
  /** Throws `config_invalid` if it leads to another database than {@link FeedInstallation.database}. */
  assertDatabase(database: string): Promise<void>;
  /** Runs one statement by itself. Throws as a source does: with the code of the database, and never its text. */
  run(statement: InstallationStatement): Promise<void>;
  close(): Promise<void>;
}

/** Each table once, with all columns that mappings need of it: the longest key, then the others by name. */
export const distinctTables = (tables: readonly PlannedTable[]): PlannedTable[] =>
  [...groupBy(tables, ({ table }) => JSON.stringify([table.schema, table.name])).values()].map((ofTable) => {
    const longest = ofTable.reduce((one, other) => (other.key.length > one.key.length ? other : one));
    const others = ofTable.flatMap(({ key }) => key).filter((column) => !longest.key.includes(column));
    return others.length === 0 ? longest : { ...longest, key: [...longest.key, ...new Set(others.toSorted())] };
  });

/** The planned tables that a feed does not report. */
export const missingAmong = (tables: readonly PlannedTable[], reported: readonly FeedTable[]): PlannedTable[] =>
  tables.filter(({ table }) => !reported.some((each) => isSameTable(each, table)));
