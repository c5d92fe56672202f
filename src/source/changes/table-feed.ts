/**
 * A change table as a change feed. Each page is a query of its own, so a reading may take as long as it likes and holds
 * nothing; only `confirm` writes, and only if the account may.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { ChangeFeed, ChangeGroup, FeedPosition, FeedState, FeedTable } from '../../domain/source/change-feed.js';
import type { FeedInstallation, FeedRemoval, PlannedTable } from '../../domain/source/feed-installation.js';
import type { SourceKey } from '../../domain/source/source-key.js';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { ChangeTable, RecordedKey, RecordedRow, TableStatus, TableIdentity } from './change-table.js';
import type { KeyTexts } from './key-texts.js';
import { parseRecordedSource } from './recorded-source.js';

/** Opens the feed; the methods' contracts are those of {@link ChangeFeed}. */
export const openTableFeed = (table: ChangeTable, keyTexts: KeyTexts): ChangeFeed => new TableFeed(table, keyTexts);

class TableFeed implements ChangeFeed {
  readonly #table: ChangeTable;
  readonly #keyTexts: KeyTexts;

  constructor(table: ChangeTable, keyTexts: KeyTexts) {
    this.#table = table;
    this.#keyTexts = keyTexts;
  }

  async state(since: FeedPosition | null = null): Promise<FeedState> {
    const status = await this.#table.status();
    const { identity, keptBytes, tables } = status;
    const lost = status.problem !== null || since === null ? null : this.#lostSince(since, status);
    return {
      position: status.problem !== null ? null : { origin: identity!.origin, at: identity!.pruned },
      problem: status.problem?.text ?? lost,
      keptBytes,
      bytesLeft: null,
      unread: null,
      tables,
    };
  }

  async begin(): Promise<FeedPosition> {
    const { origin } = readableIdentity(await this.#table.status());
    return { origin, at: await this.#table.start() };
  }

  async mayHaveChanges({ at }: FeedPosition): Promise<boolean> {
    try {
      return (await this.#table.countRowsAfter(at, 1)) > 0;
    } catch (error) {
      // A reading says what has become of it.
      if (isMissing(error)) return true;
      throw error;
    }
  }

  countUnread({ at }: FeedPosition): Promise<number> {
    return this.#table.countRowsAfter(at, COUNT_BOUND);
  }

  async *read(position: FeedPosition, signal: AbortSignal): AsyncGenerator<ChangeGroup> {
    signal.throwIfAborted();
    await this.#assertReadableFrom(position);
    let read = position;
    try {
      for await (const { rows, at } of this.#table.pages(position.at, signal)) {
        // After the page: what had been deleted when it was read is known by now.
        this.#assertComplete(read, await this.#table.identity());
        read = { ...position, at };
        yield { ...(await this.#changesOf(rows)), position: read, committedAt: null };
        signal.throwIfAborted();
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // The change table may be gone.
      if (isMissing(error)) await this.#assertReadableFrom(read);
      throw error;
    }
  }

  async confirm(position: FeedPosition): Promise<string | null> {
    const { origin } = readableIdentity(await this.#table.status());
    if (origin !== position.origin) throw changesLost(ANOTHER);
    if (!(await this.#table.canPrune())) return null;
    await this.#table.prune(position);
    return (await this.#table.identity()).pruned;
  }

  installation(tables: readonly PlannedTable[]): Promise<FeedInstallation> {
    return this.#table.installation(tables);
  }

  removal(): Promise<FeedRemoval> {
    return this.#table.removal();
  }

  async #assertReadableFrom(position: FeedPosition): Promise<void> {
    const status = await this.#table.status();
    readableIdentity(status);
    const why = this.#lostSince(position, status);
    if (why !== null) throw changesLost(why);
  }

  #assertComplete(position: FeedPosition, identity: TableIdentity): void {
    const why = this.#prunedSince(position, identity);
    if (why !== null) throw changesLost(why);
  }

  /** Why changes after `position` cannot be read any more from a change table that itself can; null if they can. */
  #lostSince(position: FeedPosition, { identity, end }: TableStatus): string | null {
    const why = this.#prunedSince(position, identity!);
    if (why !== null) return why;
    return this.#table.compare(position.at, end) > 0 ? GONE_BACK : null;
  }

  #prunedSince({ origin, at, confirmed = null }: FeedPosition, identity: TableIdentity): string | null {
    if (origin !== identity.origin) return ANOTHER;
    if (confirmed !== null && this.#table.compare(confirmed, identity.pruned) > 0) return GONE_BACK;
    return this.#table.compare(identity.pruned, at) > 0
      ? 'rows of the change table were deleted that had not been read: somebody else reads it'
      : null;
  }

  async #changesOf(rows: readonly RecordedRow[]): Promise<Pick<ChangeGroup, 'rows' | 'truncated' | 'unnamed'>> {
    const bySource = new Map<string, { readonly keys: Map<string, RecordedKey>; isTruncated: boolean }>();
    for (const { source, keys } of rows) {
      const of = getOrInsert(bySource, source, () => ({ keys: new Map<string, RecordedKey>(), isTruncated: false }));
      if (keys === null) of.isTruncated = true;
      else for (const key of keys) of.keys.set(JSON.stringify(key), key);
    }
    const changed: ChangeGroup['rows'][number][] = [];
    const truncated: FeedTable[] = [];
    for (const [source, { keys, isTruncated }] of bySource) {
      const planned = parseRecordedSource(source);
      if (isTruncated) truncated.push(planned.table);
      if (keys.size === 0) continue;
      const texts = await this.#keyTexts.of(planned);
      // Its mapping reads every row once the table is there again.
      if (texts === null) continue;
      changed.push({
        table: planned.table,
        columns: planned.key,
        keys: [...keys.values()].filter(isWhole).map((key) => key.map((value, i) => texts[i]!(value))),
      });
    }
    return { rows: changed, truncated, unnamed: [] };
  }
}

const isWhole = (key: RecordedKey): key is SourceKey => !key.includes(null);

/** Rows that are there may be others than those that were read under their numbers. */
const GONE_BACK = 'the change table has gone back to an earlier state';
const ANOTHER = 'the database or the change table is another one than before';

const changesLost = (why: string): PartnerSyncError => new PartnerSyncError('changes_lost', `source: ${why}`);

function readableIdentity({ problem, identity }: TableStatus): TableIdentity {
  if (problem !== null)
    throw problem.isLost
      ? changesLost(problem.text)
      : new PartnerSyncError('config_invalid', `source: ${problem.text}`);
  return identity!;
}

const isMissing = (error: unknown): boolean =>
  error instanceof PartnerSyncError && error.code === 'source_relation_missing';
