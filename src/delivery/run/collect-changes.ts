/** Records in the ledger which rows a change feed has named, and tells the source that it need not keep these changes any more. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingNote } from '../../domain/run/run.js';
import type { CollectChangesInput, CollectedChanges } from '../../domain/run/work.js';
import type { ChangeFeed, ChangeGroup, FeedPosition, FeedTable } from '../../domain/source/change-feed.js';
import type { SourceKey } from '../../domain/source/source.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { RecordedChanges } from '../../ledger/changes/feeds.js';
import type { Dependencies, OpenSync } from '../dependencies.js';

/**
 * Reads the feed from its position to its end. Keys go into the ledger before the source is told that it may forget them, so
 * rows that cannot be delivered keep nothing at the source.
 *
 * A feed that has not begun begins now: its mappings are then read in full once. So does one whose changes are lost; records
 * of rows that were deleted meanwhile are found by looking all of them through.
 *
 * @throws PartnerSyncError `config_invalid` if the feed does not report a mapping's table or key, `changes_lost` if there is
 *   no feed at all
 */
export async function collectChanges(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  input: CollectChangesInput,
  signal: AbortSignal,
): Promise<CollectedChanges> {
  const sync = await openSync(input.sync, input.runId);
  const { config, mappings } = declaredFeeds(sync.spec).find(({ name }) => name === input.feed)!;
  const feed = sync.source.changes(config);
  const { fed, unreported } = await fedMappings(
    sync,
    feed,
    mappings.filter(({ name }) => !input.skipped.includes(name)),
  );
  signal.throwIfAborted();
  const acquired = await ledger.feeds.acquire(input.sync, input.feed);
  // Before anything is read: changes of mappings that the feed is not of are not recorded.
  await ledger.feeds.feedMappings(
    acquired,
    fed.map(({ mappingId, table, key }) => ({ mappingId, reads: JSON.stringify([table.schema, table.name, ...key]) })),
  );
  if (unreported.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mapping ${unreported.join(', ')}: the change feed ${input.feed} does not report its table; add it to the publication, or write changes: none`,
    );
  const notes: MappingNote[] = [];
  let { position } = acquired;
  if (position !== null) {
    try {
      await noteAll(position);
    } catch (error) {
      if (!(error instanceof PartnerSyncError) || error.code !== 'changes_lost') throw error;
      notes.push(
        ...mappings.map(({ name }) => ({ mapping: name, message: `${error.message}; every row is read again` })),
      );
      position = null;
    }
  }
  if (position === null) {
    const first = await feed.begin();
    await ledger.feeds.begin(acquired, first);
    await noteAll(first);
  } else if (!(await areLoaded())) {
    // Its table may have just been added to the publication: what a transaction has written before, and commits later, is
    // not reported. The reading of all rows that follows has to see it.
    await feed.begin();
  }
  return { notes };

  async function areLoaded(): Promise<boolean> {
    const known = await Promise.all(fed.map(({ mappingId }) => ledger.feeds.mapping(mappingId)));
    return known.every((mapping) => mapping?.loaded === true);
  }

  async function noteAll(from: FeedPosition): Promise<void> {
    let noted = from;
    for await (const group of feed.read(from, signal)) {
      await ledger.feeds.note(acquired, changesOf(group, fed), group.position);
      noted = group.position ?? noted;
    }
    await ledger.feeds.note(acquired, [], null, true);
    await feed.confirm(noted);
  }
}

/** A mapping whose table the feed reports. */
interface ReportedMapping {
  readonly mappingId: number;
  readonly mapping: string;
  readonly table: FeedTable;
  readonly key: readonly string[];
}

/** The feed's mappings, but those that the run leaves out: they are read in full once they are back. */
async function fedMappings(
  sync: Pick<OpenSync, 'source' | 'mapping'>,
  feed: ChangeFeed,
  specs: readonly MappingSpec[],
): Promise<{ readonly fed: ReportedMapping[]; readonly unreported: string[] }> {
  const reported = new Set((await feed.state()).tables.map(tableKey));
  const fed: ReportedMapping[] = [];
  const unreported: string[] = [];
  for (const { name: mapping, relation, key } of specs) {
    const table = 'table' in relation ? (await sync.source.tables([relation.table]))[0] : undefined;
    if (table === undefined || !reported.has(tableKey(table))) unreported.push(mapping);
    else fed.push({ mappingId: (await sync.mapping(mapping)).mappingId, mapping, table, key });
  }
  return { fed, unreported };
}

const tableKey = ({ schema, name }: FeedTable): string => JSON.stringify([schema, name]);

/** What the group says of each mapping's rows. */
function changesOf(group: ChangeGroup, fed: readonly ReportedMapping[]): RecordedChanges[] {
  const keys = new Map<ReportedMapping, SourceKey[]>();
  for (const { table, columns, keys: named } of group.rows)
    for (const mapping of fed.filter((each) => tableKey(each.table) === tableKey(table))) {
      const places = mapping.key.map((column) => columns.indexOf(column));
      if (places.includes(-1))
        throw new PartnerSyncError(
          'config_invalid',
          `mapping ${mapping.mapping}: the change feed identifies rows by (${columns.join(', ')}), which lacks a column of the mapping's key (${mapping.key.join(', ')}); use a key of those columns, or write changes: none`,
        );
      getOrInsert(keys, mapping, (): SourceKey[] => []).push(...named.map((key) => places.map((place) => key[place]!)));
    }
  const truncated = new Set(group.truncated.map(tableKey));
  return fed
    .map((mapping) => ({
      mappingId: mapping.mappingId,
      keys: keys.get(mapping) ?? [],
      isTruncated: truncated.has(tableKey(mapping.table)),
    }))
    .filter(({ keys: named, isTruncated }) => named.length > 0 || isTruncated);
}
