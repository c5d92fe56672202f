/** One attempt's reading of a change feed: what it reports goes into the ledger. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { CollectChangesInput } from '../../domain/run/work.js';
import {
  limitOf,
  type ChangeFeed,
  type ChangeGroup,
  type FeedPosition,
  type FeedTable,
  type ReportedTable,
} from '../../domain/source/change-feed.js';
import type { SourceKey } from '../../domain/source/source.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { milliseconds } from '../../domain/timeouts.js';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { AcquiredFeed, RecordedChanges } from '../../ledger/changes/feeds.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Dependencies, OpenSync } from '../dependencies.js';

/** The source reports what is recorded again until it is confirmed, which costs it about as much as a reading without changes. */
const UNCONFIRMED_KEYS = 1000;

/** What one reading has found. */
export interface Recorded {
  /** How many keys it has recorded, a key that was named twice being counted twice. */
  readonly keys: number;
  /** Milliseconds for which the source has worked, and the ledger has not. */
  readonly readingMs: number;
}

/**
 * Acquires the feed: from now on earlier attempts can record nothing.
 *
 * @throws PartnerSyncError `config_invalid` if the feed does not report a mapping's table
 */
export async function acquireFeed(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  input: CollectChangesInput,
  signal: AbortSignal,
): Promise<FeedReader> {
  const sync = await openSync(input.sync, input.runId);
  const feeds = declaredFeeds(sync.spec);
  const { config, mappings } = feeds.find(({ name }) => name === input.feed)!;
  const feed = sync.source.changes(config);
  const { tables, ...state } = await feed.state();
  const { fed, unreported } = await fedMappings(
    sync,
    tables,
    mappings.filter(({ name }) => !input.skipped.includes(name)),
  );
  // A worker that was frozen may resume after its attempt is over, and must not fence off the attempt that replaced it.
  signal.throwIfAborted();
  const acquired = await ledger.feeds.acquire(input.sync, input.feed);
  await ledger.feeds.see(input.sync, input.feed, state);
  await ledger.feeds.setLimits(input.sync, new Map(feeds.map((each) => [each.name, limitOf(each.config)])));
  // Before anything is read: changes of mappings that the feed is not of are not recorded.
  await ledger.feeds.feedMappings(
    acquired,
    fed.map(({ mappingId, table: { schema, name, since = '' }, key }) => ({
      mappingId,
      reads: JSON.stringify([schema, name, since, ...key]),
    })),
  );
  if (unreported.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mapping ${unreported.join(', ')}: the change feed ${input.feed} does not report its table; partner-sync changes install adds it, or write changes: none`,
    );
  return new FeedReader(ledger.feeds, feed, acquired, fed);
}

/** A feed, acquired by {@link acquireFeed}. Its methods throw `fenced_off` if another attempt has acquired it since. */
export class FeedReader {
  readonly #feeds: Ledger['feeds'];
  readonly #feed: ChangeFeed;
  readonly #acquired: AcquiredFeed;
  readonly #fed: readonly ReportedMapping[];
  #position: FeedPosition | null;
  /** How many keys have been recorded and not confirmed yet. */
  #unconfirmed = 0;
  /** What this reader has confirmed last. */
  #confirmed: FeedPosition | null = null;
  #seenAt = -Infinity;

  constructor(feeds: Ledger['feeds'], feed: ChangeFeed, acquired: AcquiredFeed, fed: readonly ReportedMapping[]) {
    this.#feeds = feeds;
    this.#feed = feed;
    this.#acquired = acquired;
    this.#fed = fed;
    this.#position = acquired.position;
  }

  /** Up to where the feed was read; null if it has not begun. */
  get position(): FeedPosition | null {
    return this.#position;
  }

  /** Why the feed was given up before; null if it was not, or has begun again since. */
  get givenUp(): string | null {
    return this.#acquired.givenUp;
  }

  /** The names of the mappings that it is of. */
  get mappings(): readonly string[] {
    return this.#fed.map(({ mapping }) => mapping);
  }

  /** The feed begins: of all its mappings, every row has to be read. */
  async begin(): Promise<void> {
    const first = await this.#feed.begin();
    await this.#feeds.begin(this.#acquired, first);
    this.#position = first;
  }

  /** Resolves once each transaction that is open now has ended, and can be seen by queries. */
  async awaitOpenTransactions(): Promise<void> {
    await this.#feed.begin();
  }

  /** Those of its mappings of which every row is still to be read. */
  async unloaded(): Promise<readonly string[]> {
    const known = await this.#feeds.mappings(this.#fed.map(({ mappingId }) => mappingId));
    return this.#fed.filter(({ mappingId }) => known.get(mappingId)?.loaded !== true).map(({ mapping }) => mapping);
  }

  /**
   * Records what has changed since the position, and tells the source that it may forget it.
   *
   * @param quietly whether nothing is written if nothing has changed, the source not told if little has, and the feed not
   *   looked at if nothing was written
   * @throws PartnerSyncError `changes_lost` if not every change can be read any more, or the feed has not begun
   */
  async record(signal: AbortSignal, quietly = false): Promise<Recorded> {
    const [began, before] = [performance.now(), this.#position];
    if (before === null) throw new PartnerSyncError('changes_lost', this.givenUp ?? 'the change feed has not begun');
    if (quietly && !(await this.#feed.mayHaveChanges(before))) return { keys: 0, readingMs: performance.now() - began };
    let [keys, ledgerMs] = [0, 0];
    const inLedger = async (write: () => Promise<void>): Promise<void> => {
      const from = performance.now();
      await write();
      ledgerMs += performance.now() - from;
    };
    let last: FeedPosition | null = null;
    let writes = !quietly;
    for await (const group of this.#feed.read(before, signal)) {
      const changes = changesOf(group, this.#fed);
      keys += changes.reduce((sum, change) => sum + change.keys.length, 0);
      last = group.position ?? last;
      writes ||= changes.length > 0;
      if (writes) await inLedger(() => this.#feeds.note(this.#acquired, changes, group.position));
    }
    // Nothing lies between: the next reading may begin there, though the ledger still has the position before.
    this.#position = last ?? before;
    this.#unconfirmed += keys;
    if (writes) {
      await inLedger(() => this.#feeds.note(this.#acquired, [], this.#position, true));
      // Only what the ledger has is ever confirmed.
      if (!quietly || this.#unconfirmed >= UNCONFIRMED_KEYS) await this.#confirm(this.#position);
      await this.#see();
    }
    return { keys, readingMs: performance.now() - began - ledgerMs };
  }

  /** Not again what the source was told already. */
  async #confirm(position: FeedPosition): Promise<void> {
    this.#unconfirmed = 0;
    if (position.at === this.#confirmed?.at && position.origin === this.#confirmed.origin) return;
    await this.#feed.confirm(position);
    this.#confirmed = position;
  }

  /** Records what the source still keeps, unless that was done some seconds ago. */
  async #see(): Promise<void> {
    if (performance.now() - this.#seenAt < milliseconds('feedStateEvery')) return;
    const { sync, name } = this.#acquired;
    await this.#feeds.see(sync, name, await this.#feed.state());
    this.#seenAt = performance.now();
  }
}

/** A mapping whose table the feed reports. */
interface ReportedMapping {
  readonly mappingId: number;
  readonly mapping: string;
  readonly table: ReportedTable;
  readonly key: readonly string[];
}

/** The feed's mappings, but those that the run leaves out: they are read in full once they are back. */
async function fedMappings(
  sync: Pick<OpenSync, 'source' | 'mapping'>,
  tables: readonly ReportedTable[],
  specs: readonly MappingSpec[],
): Promise<{ readonly fed: ReportedMapping[]; readonly unreported: string[] }> {
  const reported = new Map(tables.map((table) => [tableKey(table), table]));
  const fed: ReportedMapping[] = [];
  const unreported: string[] = [];
  for (const { name: mapping, relation, key } of specs) {
    const found = 'table' in relation ? (await sync.source.tables([relation.table]))[0] : undefined;
    const table = found && reported.get(tableKey(found));
    if (table === undefined) unreported.push(mapping);
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
