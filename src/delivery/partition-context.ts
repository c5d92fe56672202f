/** What the steps of a delivery share: one partition of a mapping, as this attempt has acquired it. */
import { EffortMeter } from '../domain/run/effort.js';
import type { GuardLimits } from '../domain/sync/guard.js';
import type { PartitionRef } from '../domain/run/work.js';
import { workOf, type AcquiredPartition } from '../ledger/runs/partitions.js';
import type { PositionedChunk } from '../reading/chunk.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';
import { Refusals } from './refusals.js';

/** Made by {@link acquirePartition} for one attempt of an activity. */
export interface PartitionContext {
  readonly deps: Dependencies;
  readonly sync: OpenSync;
  readonly mapping: OpenMapping;
  readonly partition: AcquiredPartition;
  /** The limits of a guarded run; undefined for rows that are read again, for first passes and for removals. */
  readonly guard?: GuardLimits | undefined;
  readonly earlierChunks: EarlierChunks;
  /** What is done in this attempt; its checkpoints write it to the ledger. */
  readonly effort: EffortMeter;
  /** Aborts when the activity is cancelled or has lost its worker. */
  readonly signal: AbortSignal;
}

/** What the chunks of one attempt at a partition tell those after them. */
export class EarlierChunks {
  /**
   * External ids that several rows of one chunk have: a later chunk may have one more, and is delivered before the ledger
   * has their dead letters.
   */
  readonly duplicateIds = new Set<string>();
  /** The ledger had no dead letter of a duplicate external id, and need not be asked again. */
  noDuplicatesInLedger = false;
  /** No child had a parent that will not come, and later chunks need not look for one. */
  allChildrenSendable = false;
  /** No child was queued without its parents when the first chunk was read. */
  noChildrenQueued = false;
  readonly refusals = new Refusals();
}

/** Acquires a partition with a new fencing token: earlier attempts at it can write no more. */
export async function acquirePartition(
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
): Promise<PartitionContext> {
  const sync = await deps.openSync(ref.sync, ref.runId);
  // A worker that was frozen may resume after its attempt is over, and must not fence off the attempt that replaced it.
  signal.throwIfAborted();
  const partition = await deps.ledger.partitions.acquire(ref.partitionId);
  const mapping = await sync.mapping(ref.mapping);
  return { deps, sync, mapping, partition, earlierChunks: new EarlierChunks(), effort: new EffortMeter(), signal };
}

/** The chunks of a partition of rows that are still to be read, in reading order. */
export async function* chunksOf(context: PartitionContext): AsyncGenerator<PositionedChunk> {
  const { deps, sync, mapping, partition, effort } = context;
  const chunks = sync.chunks(mapping, workOf(partition, 'rows'), () => deps.ledger.nextReadSeq());
  try {
    while (true) {
      const next = await effort.measure('readingMs', () => chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return(undefined);
  }
}
