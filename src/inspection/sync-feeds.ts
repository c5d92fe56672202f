/** The tables that a sync's mappings need of its change feeds, and how each feed stands. */
import { PartnerSyncError } from '../domain/errors.js';
import type { FeedPosition, FeedState } from '../domain/source/change-feed.js';
import type { PlannedTable } from '../domain/source/feed-installation.js';
import type { Source } from '../domain/source/source.js';
import { declaredFeeds, type DeclaredFeed } from '../domain/sync/declared-feeds.js';
import { isOwnTable, type SyncSpec } from '../domain/sync/sync.js';
import { groupBy } from '../domain/values/group-by.js';
import { affectedRows } from '../reading/affected-rows.js';
import { tableName, tableNameParts } from '../source/table-name.js';

/** A mapping, and a table whose changes affect its rows, as the source knows it. */
export interface FedTable extends PlannedTable {
  readonly mapping: string;
  /** As `changes.tables` names it; null if it is the table that the mapping reads. */
  readonly declared: string | null;
}

/** {@link declaredFeeds}, of which there must be one. Throws `input_invalid` if there is none. */
export function requiredFeeds(spec: SyncSpec): DeclaredFeed[] {
  const feeds = declaredFeeds(spec);
  if (feeds.length > 0) return feeds;
  throw new PartnerSyncError(
    'input_invalid',
    `no mapping of ${spec.name} goes by a change feed; name one in \`changes\` of sync.yaml or of a mapping`,
  );
}

/** The tables by which the feed's mappings are changed. One that the source does not have keeps the name that the mapping gives it. */
export async function fedTables(source: Pick<Source, 'tables'>, { mappings }: DeclaredFeed): Promise<FedTable[]> {
  const tables: FedTable[] = [];
  for (const mapping of mappings)
    for (const by of mapping.changedBy) {
      const [found] = await source.tables([by.table]);
      const [name, schema = null] = tableNameParts(by.table).reverse();
      const table = found === undefined ? { schema, name: name! } : { schema: found.schema, name: found.name };
      tables.push({
        mapping: mapping.name,
        table,
        key: affectedRows(by, mapping.key).columns,
        declared: isOwnTable(mapping, by.table) ? null : by.table,
      });
    }
  return tables;
}

/** The name of a table for people, as mappings write it. */
export const shownTable = ({ schema, name }: PlannedTable['table']): string =>
  tableName(...(schema === null ? [] : [schema]), name);

/** A table, and the mappings that need its changes. */
export interface NeededTable {
  readonly table: string;
  readonly mappings: readonly string[];
  readonly isReported: boolean;
}

/** How a feed stands. */
export interface FeedHealth extends Omit<FeedState, 'tables'> {
  /** First those that mappings need, then the others that it reports. */
  readonly tables: readonly NeededTable[];
}

/** Looks at a feed. An error with a code is its problem; only an unforeseen one is thrown. `since`: {@link ChangeFeed.state}. */
export async function feedHealth(
  source: Pick<Source, 'tables' | 'changes'>,
  feed: DeclaredFeed,
  since: FeedPosition | null = null,
): Promise<FeedHealth> {
  try {
    const { tables, ...state } = await source.changes(feed.config).state(since);
    return { ...state, tables: neededTables(await fedTables(source, feed), tables.map(shownTable)) };
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    const problem = error.message.replace(/^source: /, '');
    return { position: null, problem, keptBytes: null, bytesLeft: null, unread: null, tables: [] };
  }
}

function neededTables(fed: readonly FedTable[], reported: readonly string[]): NeededTable[] {
  const needed = [...groupBy(fed, ({ table }) => shownTable(table))].map(([table, ofTable]) => ({
    table,
    mappings: ofTable.map(({ mapping }) => mapping),
    isReported: reported.includes(table),
  }));
  const others = reported.filter((table) => !needed.some((each) => each.table === table));
  return [...needed, ...others.map((table) => ({ table, mappings: [], isReported: true }))];
}
