/** What is found about the installation of a change feed, with the names of tables and mappings that people know. */
import { PartnerSyncError } from '../domain/errors.js';
import type { FeedFinding, FeedInstallation, PlannedTable } from '../domain/source/feed-installation.js';
import { isSameTable } from '../domain/source/feed-table.js';
import type { Source } from '../domain/source/source.js';
import type { DeclaredFeed } from '../domain/sync/declared-feeds.js';
import { fedTables, shownTable, type FedTable } from './sync-feeds.js';

/** A finding for people. */
export interface ShownFinding extends Pick<FeedFinding, 'kind' | 'blocks' | 'text' | 'fix'> {
  /** null if it is about the server, or a part of the feed. */
  readonly table: string | null;
  /** The mappings that read the table. */
  readonly mappings: readonly string[];
}

/** Findings of {@link fedTables}. Two mappings with one table and key would each report the same, which is said once. */
export function shownFindings(tables: readonly FedTable[], findings: FeedInstallation['findings']): ShownFinding[] {
  const shown = findings.map(({ kind, blocks, text, fix, table, planned }): ShownFinding => ({
    kind,
    table: table === null ? null : shownTable(table),
    mappings: planned === null ? [] : mappingsOf(tables, planned),
    blocks,
    text,
    fix,
  }));
  return [...new Map(shown.map((each) => [JSON.stringify(each), each])).values()];
}

/** Those of a feed; none if they cannot be looked for: the feed's problem then says why. */
export async function findingsOf(
  source: Pick<Source, 'tables' | 'changes'>,
  feed: DeclaredFeed,
): Promise<readonly ShownFinding[]> {
  try {
    const tables = await fedTables(source, feed);
    return shownFindings(tables, (await source.changes(feed.config).installation(tables)).findings);
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [];
  }
}

/** Those that need these columns of the table; if none does, the finding is about all that need any. */
function mappingsOf(tables: readonly FedTable[], { table, key }: PlannedTable): string[] {
  const ofTable = tables.filter((each) => isSameTable(each.table, table));
  const ofKey = ofTable.filter((each) => each.key.join() === key.join());
  return [...new Set((ofKey.length > 0 ? ofKey : ofTable).map(({ mapping }) => mapping))];
}
