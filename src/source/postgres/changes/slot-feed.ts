/**
 * A logical replication slot of PostgreSQL as a change feed, read with plain SQL.
 *
 * A reading decodes the log from where the oldest transaction that was open began, not from what was confirmed: its cost
 * follows how much the server keeps. It changes nothing, so it may be repeated; only `confirm` moves the slot.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../../domain/errors.js';
import type { ChangeFeed, ChangeGroup, FeedPosition, FeedState } from '../../../domain/source/change-feed.js';
import type { FeedInstallation, FeedRemoval, PlannedTable } from '../../../domain/source/feed-installation.js';
import { milliseconds } from '../../../domain/timeouts.js';
import type { FeedDatabase, Query, Session, TakenSession } from '../../dialect.js';
import { groupsOf } from './change-groups.js';
import { cancelWhenAborted, type AbortWatch } from './cancel-when-aborted.js';
import { KeyColumns } from './key-columns.js';
import { logPosition, logPositionText } from './log-position.js';
import { openTransactionsHaveEnded } from './open-transactions.js';
import type { SlotConfig } from './slot-config.js';
import { advanceCall } from './slot-functions.js';
import { installationOf } from './slot-differences.js';
import { findSlotProblems } from './slot-findings.js';
import { slotRemoval } from './slot-installation.js';
import { readSlotParts } from './slot-parts.js';
import { beginWithin, openReading, type SlotReading } from './slot-reading.js';
import { lostSince, readSlotState, type SlotState } from './slot-state.js';

const IN_USE = 'SQLSTATE 55006';
const NOT_IN_THIS_STATE = 'SQLSTATE 55000';
/** An object that does not exist: a slot, or a publication that was made after the changes that are decoded. */
const UNDEFINED_OBJECT = 'SQLSTATE 42704';
/** From 18 on, changes from before the publication are left out with a warning. */
const LEFT_OUT = '55000';

/** Up to where the log has been written to disk: after each commit, it is another position. A standby does not tell. */
const WRITTEN_SQL = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn()::text END`;

/** Bytes of log that are worth a second call. */
const WORTH_FREEING = 1024n * 1024n;

/** How long a feed waits, in milliseconds. */
export interface SlotWaits {
  /** For one reading or advance of the slot, and for whoever takes its groups. */
  readonly reading: number;
  /** For another session that uses the slot. */
  readonly inUse: number;
  /** For transactions that were open at the beginning. */
  readonly open: number;
}

const WAITS: SlotWaits = {
  reading: milliseconds('slotReading'),
  inUse: milliseconds('slotInUse'),
  open: milliseconds('openTransactions'),
};

/** Opens the feed of a slot; the methods' contracts are those of {@link ChangeFeed}. */
export const openSlotFeed = (database: FeedDatabase, config: SlotConfig, waits = WAITS): ChangeFeed =>
  new SlotFeed(database, config, waits);

class SlotFeed implements ChangeFeed {
  readonly #database: FeedDatabase;
  readonly #config: SlotConfig;
  readonly #waits: SlotWaits;
  readonly #keyColumns = new KeyColumns();

  constructor(database: FeedDatabase, config: SlotConfig, waits: SlotWaits) {
    this.#database = database;
    this.#config = config;
    this.#waits = waits;
  }

  async state(since: FeedPosition | null = null): Promise<FeedState> {
    const state = await this.#state();
    const { position, keptBytes, bytesLeft, unread, tables } = state;
    const lost = state.problem !== null || since === null ? null : lostSince(since, state);
    return { position, problem: state.problem?.text ?? lost, keptBytes, bytesLeft, unread, tables };
  }

  async installation(tables: readonly PlannedTable[]): Promise<FeedInstallation> {
    const run = this.#run;
    return this.#database.attempt('reading what is installed', async () => {
      const parts = await readSlotParts(run, this.#config);
      const { findings, published } = await findSlotProblems(run, tables, this.#config.limit);
      return installationOf(this.#config, published, parts, findings);
    });
  }

  async removal(): Promise<FeedRemoval> {
    const { database, parts } = await this.#database.attempt('reading what is installed', () =>
      readSlotParts(this.#run, this.#config),
    );
    return { database, statements: slotRemoval(this.#config, parts) };
  }

  async begin(): Promise<FeedPosition> {
    const state = await this.#state();
    assertReadable(state);
    // In this order: a transaction that commits before the position is taken is visible, or still open afterwards.
    await openTransactionsHaveEnded(this.#database, this.#waits.open);
    return { origin: state.origin, at: logPositionText(state.written) };
  }

  async mayHaveChanges(position: FeedPosition): Promise<boolean> {
    const { rows } = await this.#database.attempt('looking at the log', () =>
      this.#run({ sql: WRITTEN_SQL, bindings: [] }),
    );
    const [written] = rows[0]!;
    return written == null || logPosition(written) !== logPosition(position.at);
  }

  countUnread(): Promise<null> {
    return Promise.resolve(null);
  }

  async *read(position: FeedPosition, signal: AbortSignal): AsyncGenerator<ChangeGroup> {
    signal.throwIfAborted();
    const taken = await this.#take('reading changes');
    const watch = cancelWhenAborted(this.#database.session, taken, signal);
    try {
      signal.throwIfAborted();
      const { reading, through } = await this.#whenFree(taken, () => this.#open(taken, position, watch), signal);
      const groups = groupsOf({
        ...reading,
        origin: position.origin,
        after: logPosition(position.at),
        through,
        keyColumns: (table) => this.#keyColumns.of(taken, table),
      });
      yield* this.#withErrors(groups);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      await watch.end();
      await taken.release();
    }
  }

  async confirm(position: FeedPosition): Promise<null> {
    const taken = await this.#take('confirming changes');
    try {
      await this.#whenFree(taken, () => this.#advance(taken, position));
      return null;
    } finally {
      await taken.release();
    }
  }

  get #run(): Session['run'] {
    return (query: Query) => this.#database.session.run(query);
  }

  #state(): Promise<SlotState> {
    return this.#database.attempt('looking at the slot', () => readSlotState(this.#run, this.#config, true));
  }

  #stateFor(taken: TakenSession): Promise<SlotState> {
    return this.#database.once('looking at the slot', () => readSlotState((query) => taken.run(query), this.#config));
  }

  #take(what: string): Promise<TakenSession> {
    return this.#database.attempt(what, () => this.#database.session.take!(this.#waits.reading));
  }

  /** Begins a reading of what is after `position`. */
  async #open(
    taken: TakenSession,
    position: FeedPosition,
    watch: AbortWatch,
  ): Promise<{ readonly reading: SlotReading; readonly through: bigint }> {
    const state = await this.#stateFor(taken);
    assertReadableFrom(position, state);
    const input = { through: logPositionText(state.written), within: this.#waits.reading };
    const reading = await this.#database
      .once('reading the slot', () => openReading(taken, this.#config, state.functions, input, watch))
      .catch((error: unknown) => this.#explained(error, taken, position));
    // The slot may have been moved after it was looked at.
    if (reading.confirmed === null || reading.confirmed > logPosition(position.at))
      throw changesLost('the slot was dropped or moved on while it was read');
    if (taken.warnings.includes(LEFT_OUT)) throw changesLost(PUBLICATION_TOO_YOUNG);
    return { reading, through: state.written };
  }

  /** What failed because the slot or the publication is gone, is said as such. */
  async #explained(error: unknown, taken: TakenSession, position: FeedPosition): Promise<never> {
    const code = databaseCodeOf(error);
    if (code !== NOT_IN_THIS_STATE && code !== UNDEFINED_OBJECT) throw error;
    await this.#rollBack(taken);
    assertReadableFrom(position, await this.#stateFor(taken));
    throw code === UNDEFINED_OBJECT ? changesLost(PUBLICATION_TOO_YOUNG) : error;
  }

  async #advance(taken: TakenSession, position: FeedPosition): Promise<void> {
    const state = await this.#stateFor(taken);
    assertReadable(state);
    if (state.origin !== position.origin) throw changesLost(lostSince(position, state)!);
    if (state.confirmed! >= logPosition(position.at)) return;
    const { sql, bindings } = advanceCall(this.#config, state.functions, position.at);
    try {
      await this.#database.once('confirming changes', async () => {
        await beginWithin(taken, this.#waits.reading);
        await taken.run({ sql: `SELECT ${sql}`, bindings });
        // The first call moves the beginning of what is kept by a few seconds of log, and only the next one to the end.
        if (logPosition(position.at) - state.confirmed! > WORTH_FREEING)
          await taken.run({ sql: `SELECT ${sql}`, bindings });
        await taken.run({ sql: 'COMMIT', bindings: [] });
      });
    } catch (error) {
      if (databaseCodeOf(error) !== NOT_IN_THIS_STATE) throw error;
      await this.#rollBack(taken);
      // Somebody has confirmed more meanwhile: the server does not go back.
      const { confirmed } = await this.#stateFor(taken);
      if (confirmed === null || confirmed < logPosition(position.at)) throw error;
    }
  }

  /** A transaction in which a statement has failed accepts no other one. */
  async #rollBack(taken: TakenSession): Promise<void> {
    await this.#database.once('reading the slot', () => taken.run({ sql: 'ROLLBACK', bindings: [] }));
  }

  /** Tries again while another session uses the slot: one that was lost may still be at work. */
  async #whenFree<T>(taken: TakenSession, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const deadline = performance.now() + this.#waits.inUse;
    while (true) {
      try {
        return await work();
      } catch (error) {
        if (databaseCodeOf(error) !== IN_USE || performance.now() > deadline) throw error;
      }
      await this.#rollBack(taken);
      await sleep(milliseconds('slotInUsePoll'), undefined, { signal });
    }
  }

  async *#withErrors(groups: AsyncGenerator<ChangeGroup>): AsyncGenerator<ChangeGroup> {
    try {
      while (true) {
        const next = await this.#database.once('reading the slot', () => groups.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await groups.return(undefined);
    }
  }
}

const PUBLICATION_TOO_YOUNG =
  'the slot has changes from before its publication was created; drop the slot, and create it again after the publication';

const changesLost = (why: string): PartnerSyncError => new PartnerSyncError('changes_lost', `source: ${why}`);

function assertReadable({ problem }: SlotState): void {
  if (problem === null) return;
  throw problem.isLost ? changesLost(problem.text) : new PartnerSyncError('config_invalid', `source: ${problem.text}`);
}

function assertReadableFrom(position: FeedPosition, state: SlotState): void {
  assertReadable(state);
  const why = lostSince(position, state);
  if (why !== null) throw changesLost(why);
}

const databaseCodeOf = (error: unknown): unknown =>
  error instanceof PartnerSyncError ? error.details['databaseCode'] : undefined;
