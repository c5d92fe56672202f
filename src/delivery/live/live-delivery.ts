/** Delivers the rows that change feeds have named, as soon as they are in the ledger. */
import { removesRecords } from '../../domain/sync/sync.js';
import type { Hold } from '../../domain/sync/guard.js';
import type { FollowChangesInput, NewBeginning } from '../../domain/run/work.js';
import { milliseconds } from '../../domain/timeouts.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import { allEnded } from '../all-ended.js';
import type { Dependencies } from '../dependencies.js';
import { chunksOfChangedRows } from '../load/changed-rows.js';
import { deliverChunks } from '../load/deliver-chunks.js';
import type { NextChunk } from '../load/next-chunk.js';
import { acquirePartition, EarlierChunks, type PartitionContext } from '../partition-context.js';
import { pollPending } from '../pending/poll-pending.js';
import { removeVanished } from '../removals/remove-vanished.js';
import { timeSlice } from '../time-slice.js';
import { recoverPartition } from '../upload/recover-partition.js';
import { recordingEffort } from '../write-checkpoint.js';
import type { LiveTimeSlice } from './live-time-slice.js';

const BEGINNING = '0';

/** A mapping whose changed rows are delivered. */
interface FollowedMapping {
  readonly name: string;
  readonly id: number;
  /** Whether anything is done about records whose rows are gone. */
  readonly removes: boolean;
  /** null until every row of the mapping was read. */
  context: PartitionContext | null;
  /** The changed rows up to this `seq` have been looked at. */
  after: string;
  /** Whether rows that were looked at have been looked at once more; not those that wait for their removal plan. */
  isAgain: boolean;
  /** What keeps the mapping from being delivered, or its records from being removed. */
  hold: Pick<Hold, 'cause'> | null;
}

/** What an activity does with the changed rows of a run's mappings. */
export class LiveDelivery {
  /** What somebody has to approve, as found since the beginning. */
  readonly holds: Hold[] = [];
  /** Mappings whose records have to be looked through for rows that are gone: the feed could not tell which. */
  readonly searches = new Set<string>();
  /** Why the next run is to begin, as far as it is for the rows that were delivered. */
  beginAgain: NewBeginning | null = null;
  readonly #deps: Dependencies;
  readonly #input: FollowChangesInput;
  readonly #slice: LiveTimeSlice;
  readonly #signal: AbortSignal;
  readonly #rowsDone: (rows: number) => void;
  readonly #stages: readonly (readonly FollowedMapping[])[];
  /** Whether nothing waits that will be decided soon, as of the last poll. */
  #isIdle = false;
  /** Whether removal plans may be due. */
  #isRemoving = true;
  #pollAt = 0;
  #pollPause = milliseconds('pollFirstPause');
  #tickAt = 0;
  #againAt = performance.now() + milliseconds('leftRowsAgain');

  private constructor(
    deps: Dependencies,
    input: FollowChangesInput,
    slice: LiveTimeSlice,
    signal: AbortSignal,
    rowsDone: (rows: number) => void,
    stages: readonly (readonly FollowedMapping[])[],
  ) {
    this.#deps = deps;
    this.#input = input;
    this.#slice = slice;
    this.#signal = signal;
    this.#rowsDone = rowsDone;
    this.#stages = stages;
  }

  static async open(
    deps: Dependencies,
    input: FollowChangesInput,
    slice: LiveTimeSlice,
    signal: AbortSignal,
    rowsDone: (rows: number) => void,
  ): Promise<LiveDelivery> {
    const sync = await deps.openSync(input.sync, input.runId);
    const holdOf = (name: string) => input.onHold.find(({ mapping }) => mapping === name) ?? null;
    const followed = async (name: string): Promise<FollowedMapping> => {
      const { mappingId: id, spec } = await sync.mapping(name);
      if (sync.spec.guard !== null) await deps.ledger.guards.begin(input.runId, id);
      return {
        name,
        id,
        removes: removesRecords(spec),
        context: null,
        after: BEGINNING,
        isAgain: false,
        hold: holdOf(name),
      };
    };
    const stages = await allEnded(input.stages.map((stage) => allEnded(stage.map(followed))));
    return new LiveDelivery(deps, input, slice, signal, rowsDone, stages);
  }

  /** Delivers until the slice is over, or, if it is the last one, until nothing is left. */
  async run(): Promise<void> {
    while (!this.#slice.isOver) {
      const hasDelivered = await this.#turn();
      if (this.holds.length > 0 || this.searches.size > 0 || this.beginAgain !== null) return;
      if (hasDelivered) continue;
      if (this.#input.isLast && this.#isIdle && !this.#isRemoving) return;
      await this.#slice.pause(this.#untilNext(), true);
    }
  }

  get #mappings(): readonly FollowedMapping[] {
    return this.#stages.flat();
  }

  /**
   * Delivers what is on the list now, parents before children, then removes the records of rows that are gone, and polls what
   * waits. Each row is on the list once, so none is read again while its record may still be in flight. Returns whether
   * anything was delivered.
   */
  async #turn(): Promise<boolean> {
    await this.#tick();
    const { changedRows } = this.#deps.ledger;
    if (performance.now() >= this.#againAt) this.#lookAgain();
    const newest = await changedRows.newestOf(this.#mappings.map(({ id }) => id));
    let hasDelivered = false;
    for (const stage of this.#stages) {
      const delivered = await allEnded(stage.map((mapping) => this.#deliver(mapping, newest.get(mapping.id))));
      hasDelivered ||= delivered.includes(true);
      if (this.#slice.isOver) return hasDelivered;
    }
    if (hasDelivered || this.#isRemoving) await this.#removeAll();
    await this.#poll(hasDelivered);
    return hasDelivered;
  }

  async #deliver(mapping: FollowedMapping, through: string | undefined): Promise<boolean> {
    const { after, hold } = mapping;
    if (mapping.context === null || through === undefined || BigInt(through) <= BigInt(after)) return false;
    if (hold !== null && hold.cause !== 'gone') return false;
    // What earlier chunks have found may not be so any more.
    const context = { ...mapping.context, earlierChunks: new EarlierChunks() };
    const chunks = chunksOfChangedRows(context, { after, through, withoutPlanned: mapping.isAgain });
    try {
      const isEnd = await recordingEffort(context, () =>
        deliverChunks(context, this.#noting(mapping, chunks), timeSlice(this.#signal), this.#rowsDone),
      );
      if (isEnd) mapping.after = through;
    } catch (error) {
      if (!(error instanceof GuardExceeded)) throw error;
      this.#hold(mapping, error.hold);
    }
    return true;
  }

  /** The chunks; all that were taken are delivered when the delivery ends. */
  async *#noting(mapping: FollowedMapping, chunks: AsyncGenerator<NextChunk>): AsyncGenerator<NextChunk> {
    for await (const chunk of chunks) {
      yield chunk;
      if (chunk.resumePoint.kind === 'changed_rows') mapping.after = chunk.resumePoint.after;
    }
  }

  /** Children before parents. */
  async #removeAll(): Promise<void> {
    const planned = await this.#deps.ledger.removals.unfinished(this.#input.runId);
    this.#isRemoving = false;
    for (const stage of this.#stages.toReversed())
      await allEnded(stage.filter(({ id }) => planned.includes(id)).map((mapping) => this.#remove(mapping)));
  }

  /** Decides on the removal plan of the mapping, or carries it out; not while all its records are looked through for it. */
  async #remove(mapping: FollowedMapping): Promise<void> {
    const { name, id, hold, context } = mapping;
    const { feeds, removals } = this.#deps.ledger;
    if (context === null || hold !== null || (await feeds.mapping(id))?.missedDeletes !== false) return;
    const { sync, runId } = this.#input;
    const what = { mapping: name, among: 'changed_rows', awaitsApproval: true } as const;
    const result = await removeVanished(this.#deps, { sync, runId, ...what }, this.#signal);
    if (result.hold !== null) this.#hold(mapping, result.hold);
    else if (result.done) {
      if (await removals.isApproved(runId, id)) this.beginAgain ??= 'removals_approved';
    } else this.#isRemoving = true;
  }

  #hold(mapping: FollowedMapping, hold: Hold): void {
    mapping.hold = hold;
    this.holds.push(hold);
  }

  async #poll(hasDelivered: boolean): Promise<void> {
    if (hasDelivered) this.#pollPause = milliseconds('pollFirstPause');
    else if (performance.now() < this.#pollAt) return;
    const { sync, runId, polled: mappings } = this.#input;
    const { interrupted, backlogs } = await pollPending(this.#deps, { sync, runId, mappings }, this.#signal);
    this.#isIdle = !interrupted && backlogs.every(({ pending, dueSoon }) => pending + dueSoon === 0);
    if (interrupted) return;
    this.#pollAt = performance.now() + (this.#isIdle ? milliseconds('livePollWhenIdle') : this.#pollPause);
    if (!this.#isIdle) this.#pollPause = Math.min(2 * this.#pollPause, milliseconds('pollLongestPauseWhileDue'));
  }

  /** Every few seconds: which mappings can be followed by now, of which nobody knows what is gone, and what is delivered. */
  async #tick(): Promise<void> {
    if (performance.now() < this.#tickAt) return;
    this.#tickAt = performance.now() + milliseconds('liveTick');
    const { feeds } = this.#deps.ledger;
    const { loading, searching, isLast } = this.#input;
    const ids = this.#mappings.map(({ id }) => id);
    const known = await feeds.mappings(ids);
    for (const mapping of this.#mappings) {
      const fed = known.get(mapping.id);
      if (fed?.loaded !== true) {
        if (!isLast && !loading.includes(mapping.name)) this.beginAgain ??= 'changes_lost';
        continue;
      }
      mapping.context ??= await this.#acquire(mapping);
      if (isLast || searching.includes(mapping.name) || !mapping.removes || !fed.missedDeletes) continue;
      if (!(await this.#isReadByOthers(mapping))) this.searches.add(mapping.name);
    }
    await feeds.recordDelivered(ids);
  }

  /** Another run may have read rows before they were deleted, and claim their records after a search has passed by. */
  async #isReadByOthers({ id }: FollowedMapping): Promise<boolean> {
    return (await this.#deps.ledger.changedRows.newestReader(id, this.#input.runId)) !== null;
  }

  async #acquire({ name, id }: FollowedMapping): Promise<PartitionContext> {
    const { sync, runId } = this.#input;
    const { partitions } = this.#deps.ledger;
    const acquired = async (partitionId: string): Promise<PartitionContext> => {
      const context = await acquirePartition(this.#deps, { sync, runId, mapping: name, partitionId }, this.#signal);
      await recordingEffort(context, () => recoverPartition(context));
      return context;
    };
    // What earlier attempts have left in flight as parents of others, too: a changed row may wait for it.
    await acquired(await partitions.forRowsByKey(runId, id));
    return acquired(await partitions.forChangedRows(runId, id));
  }

  /** Rows that were left on the list are looked at again: what they wait for may be over. */
  #lookAgain(): void {
    this.#againAt = performance.now() + milliseconds('leftRowsAgain');
    for (const mapping of this.#mappings) {
      mapping.after = BEGINNING;
      mapping.isAgain = true;
    }
  }

  #untilNext(): number {
    const next = Math.min(this.#tickAt, this.#pollAt, this.#againAt);
    return Math.max(0, next - performance.now());
  }
}
