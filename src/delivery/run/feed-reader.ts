/** One attempt's reading of a change feed: what it reports goes into the ledger. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { CollectChangesInput } from '../../domain/run/work.js';
import {
  limitOf,
  type ChangeFeed,
  type ChangeGroup,
  type FeedPosition,
  type ReportedTable,
  type RowsOfTable,
} from '../../domain/source/change-feed.js';
import type { SourceKey, SourceType } from '../../domain/source/source.js';
import { isSameTable } from '../../domain/source/feed-table.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import { idRuleOf, isOwnTable, type MappingSpec } from '../../domain/sync/sync.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { AcquiredFeed, RecordedChanges } from '../../ledger/changes/feeds.js';
import type { Ledger } from '../../ledger/ledger.js';
import { affectedRows, changedByProblems, keysThrough, type AffectedRows } from '../../reading/affected-rows.js';
import { tenantMoves } from '../tenant-moves.js';
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
 * @throws PartnerSyncError `config_invalid` if the feed does not report a mapping's tables, or they lack a column
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
    await tenantMoves({ ledger }, sync, input.runId),
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
    fed.map(({ mappingId, reads }) => ({ mappingId, reads })),
  );
  if (unreported.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mapping ${unreported.join(', ')}: the change feed ${input.feed} does not report its tables; partner-sync changes install adds them, or write changes: none`,
    );
  return new FeedReader({ feeds: ledger.feeds, source: sync.source, feed }, acquired, fed);
}

/** A feed, acquired by {@link acquireFeed}. Its methods throw `fenced_off` if another attempt has acquired it since. */
export class FeedReader {
  readonly #feeds: Ledger['feeds'];
  readonly #source: OpenSync['source'];
  readonly #feed: ChangeFeed;
  readonly #acquired: AcquiredFeed;
  readonly #fed: readonly ReportedMapping[];
  #position: FeedPosition | null;
  /** How many keys have been recorded and not confirmed yet. */
  #unconfirmed = 0;
  /** What this reader has confirmed last. */
  #confirmed: FeedPosition | null = null;
  #seenAt = -Infinity;

  constructor(
    { feeds, source, feed }: { feeds: Ledger['feeds']; source: OpenSync['source']; feed: ChangeFeed },
    acquired: AcquiredFeed,
    fed: readonly ReportedMapping[],
  ) {
    this.#feeds = feeds;
    this.#source = source;
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
      // Before the position moves: until then, the group is read again.
      for await (const { mappingId, keys: affected } of this.#affectedBy(group, signal)) {
        keys += affected.length;
        writes = true;
        await inLedger(() => this.#feeds.note(this.#acquired, [{ mappingId, keys: affected, unnamed: null }], null));
      }
      const changes = changesOf(group, this.#fed);
      keys += changes.reduce((sum, change) => sum + change.keys.length, 0);
      last = group.position ?? last;
      writes ||= changes.length > 0;
      if (writes) await inLedger(() => this.#feeds.note(this.#acquired, changes, group.position));
    }
    // Nothing lies between: the next reading may begin there, though the ledger still has the position before.
    this.#position = last === null ? before : { ...last, confirmed: before.confirmed };
    this.#unconfirmed += keys;
    if (writes) {
      await inLedger(() => this.#feeds.note(this.#acquired, [], this.#position, true));
      // Only what the ledger has is ever confirmed.
      if (!quietly || this.#unconfirmed >= UNCONFIRMED_KEYS) await this.#confirm(this.#position);
      await this.#see();
    }
    return { keys, readingMs: performance.now() - began - ledgerMs };
  }

  /** Keys of rows that are affected by changes of other tables, some at a time. */
  async *#affectedBy(
    group: ChangeGroup,
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly mappingId: number; readonly keys: readonly SourceKey[] }> {
    for (const rows of group.rows)
      for (const { mappingId, mapping, tables } of this.#fed)
        for (const { table, columns, through } of tables)
          if (through !== null && isSameTable(table, rows.table))
            for await (const keys of keysThrough(this.#source, through, valuesOf(mapping, columns, rows) ?? [], signal))
              yield { mappingId, keys };
  }

  /** Not again what the source was told already. A crash before the ledger knows of it leaves an older confirmation there, which is no harm. */
  async #confirm(position: FeedPosition): Promise<void> {
    this.#unconfirmed = 0;
    if (position.at === this.#confirmed?.at && position.origin === this.#confirmed.origin) return;
    const confirmed = await this.#feed.confirm(position);
    this.#confirmed = position;
    if (confirmed === null || confirmed === position.confirmed) return;
    await this.#feeds.noteConfirmed(this.#acquired, confirmed);
    this.#position = { ...position, confirmed };
  }

  /** Records what the source still keeps, unless that was done some seconds ago. */
  async #see(): Promise<void> {
    if (performance.now() - this.#seenAt < milliseconds('feedStateEvery')) return;
    const { sync, name } = this.#acquired;
    await this.#feeds.see(sync, name, await this.#feed.state());
    this.#seenAt = performance.now();
  }
}

/** A mapping whose tables the feed reports. */
interface ReportedMapping {
  readonly mappingId: number;
  readonly mapping: string;
  readonly tables: readonly AffectingTable[];
  /** Differs if other tables, columns or rows are meant than before, or their records have other ids, or are of another tenant. */
  readonly reads: string;
}

/** A table whose changes affect rows of a mapping. */
interface AffectingTable extends AffectedRows {
  readonly table: ReportedTable;
  /** Whether the mapping's rows are those of this table: without one of these, there is no row. */
  readonly isOwn: boolean;
}

/** The feed's mappings, but those that the run leaves out: they are read in full once they are back. */
async function fedMappings(
  sync: Pick<OpenSync, 'source' | 'mapping'>,
  tenantMoves: number,
  reported: readonly ReportedTable[],
  specs: readonly MappingSpec[],
): Promise<{ readonly fed: ReportedMapping[]; readonly unreported: string[] }> {
  const fed: ReportedMapping[] = [];
  const unreported: string[] = [];
  for (const spec of specs) {
    const tables = await affectingTables(sync.source, reported, spec);
    if (tables === null) {
      unreported.push(spec.name);
      continue;
    }
    const { mappingId, plan } = await sync.mapping(spec.name);
    const types = new Map((await sync.source.describe(plan.relation)).map(({ name, type }) => [name, type]));
    const keyTypes = plan.key.map((column) => types.get(column) ?? null);
    fed.push({ mappingId, mapping: spec.name, tables, reads: readsOf(spec, keyTypes, tenantMoves, tables) });
  }
  return { fed, unreported };
}

/** null if the feed does not report all of them. */
async function affectingTables(
  source: OpenSync['source'],
  reported: readonly ReportedTable[],
  spec: MappingSpec,
): Promise<AffectingTable[] | null> {
  const tables: AffectingTable[] = [];
  for (const changedBy of spec.changedBy) {
    const [found] = await source.tables([changedBy.table]);
    const table = found && reported.find((each) => isSameTable(each, found));
    if (table === undefined) return null;
    const affected = affectedRows(changedBy, spec.key);
    const { identity } = table;
    if (identity !== undefined && affected.columns.some((column) => identity?.includes(column) !== true))
      throw unidentified(spec.name, affected.columns, table.name, identity ?? []);
    tables.push({ table, isOwn: isOwnTable(spec, changedBy.table), ...affected });
  }
  if (tables.length === 0) return null;
  const [problem] = await changedByProblems(source, spec);
  if (problem !== undefined)
    throw new PartnerSyncError('config_invalid', `mapping ${spec.name}: changes.tables: ${problem.message}`);
  return tables;
}

/** `keyTypes`: keys of another type are in another order, in which a load cannot go on from where it was stopped. */
const readsOf = (
  spec: MappingSpec,
  keyTypes: readonly (SourceType | null)[],
  tenantMoves: number,
  tables: readonly AffectingTable[],
): string =>
  JSON.stringify([
    spec.relation,
    keyTypes,
    tenantMoves,
    idRuleOf(spec),
    ...tables.map(({ table: { schema, name, since = '' }, columns, through }) => [
      [schema, name, since, ...columns],
      ...(through === null ? [] : [through.plan.relation, ...through.by]),
    ]),
  ]);

/** What the group says of each mapping's rows, as far as it names their keys. */
function changesOf(group: ChangeGroup, fed: readonly ReportedMapping[]): RecordedChanges[] {
  return fed
    .map(({ mappingId, mapping, tables }) => {
      const truncated = tables.filter(({ table }) => group.truncated.some((each) => isSameTable(each, table)));
      const keys: SourceKey[] = [];
      let isUnnamed = tables.some(({ table }) => group.unnamed.some((each) => isSameTable(each, table)));
      for (const rows of group.rows)
        for (const { table, columns, through } of tables) {
          if (!isSameTable(table, rows.table)) continue;
          const values = valuesOf(mapping, columns, rows);
          isUnnamed ||= values === null;
          if (through === null) keys.push(...(values ?? []));
        }
      const areDeletions = truncated.every(({ isOwn }) => isOwn);
      return {
        mappingId,
        keys,
        unnamed: isUnnamed ? 'changes' : truncated.length === 0 ? null : areDeletions ? 'deletions' : 'changes',
      } satisfies RecordedChanges;
    })
    .filter(({ keys, unnamed }) => keys.length > 0 || unnamed !== null);
}

/**
 * The values of these columns; null if the feed has identified the rows by others, as it did before the table's key or REPLICA IDENTITY
 * was changed. Throws `config_invalid` if it cannot identify any.
 */
function valuesOf(
  mapping: string,
  wanted: readonly string[],
  { columns, keys, problem }: RowsOfTable,
): SourceKey[] | null {
  if (problem !== undefined) throw new PartnerSyncError('config_invalid', `mapping ${mapping}: ${problem}`);
  const places = wanted.map((column) => columns.indexOf(column));
  return places.includes(-1) ? null : keys.map((key) => places.map((place) => key[place]!));
}

const unidentified = (
  mapping: string,
  wanted: readonly string[],
  table: string,
  columns: readonly string[],
): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `mapping ${mapping}: the change feed identifies rows of ${table} by (${columns.join(', ')}), and the mapping needs (${wanted.join(', ')}); partner-sync check says what to change`,
  );
