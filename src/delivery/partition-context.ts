/** What the steps of a delivery share: one partition of a mapping, as this attempt has acquired it. */
import type { GuardLimits } from '../domain/guard.js';
import type { PartitionRef } from '../domain/work.js';
import { workOf, type AcquiredPartition } from '../ledger/runs/partitions.js';
import type { PositionedChunk } from '../reading/chunk.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';

/** Made by {@link acquirePartition} for one attempt of an activity. */
export interface PartitionContext {
  readonly deps: Dependencies;
  readonly sync: OpenSync;
  readonly mapping: OpenMapping;
  readonly partition: AcquiredPartition;
  /** The limits of a guarded load; undefined for rows that are read again, and for removals. */
  readonly guard?: GuardLimits | undefined;
  /** What an early chunk of the load has found out, so that later ones need not ask again. */
  readonly known: {
    /** The mapping has no dead letters of duplicate external ids. */
    noDuplicates: boolean;
    /** External ids that two rows of one chunk have had: a later chunk may have a third. */
    readonly duplicateIds: Set<string>;
    /** No parent is a dead letter, and no child was given up. */
    allSendable: boolean;
  };
  /** Aborts when the activity is cancelled or has lost its worker. */
  readonly signal: AbortSignal;
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
  const known = { noDuplicates: false, duplicateIds: new Set<string>(), allSendable: false };
  return { deps, sync, mapping: await sync.mapping(ref.mapping), partition, known, signal };
}

/** The chunks of a partition of rows that are still to be read, in reading order. */
export const chunksOf = ({ deps, sync, mapping, partition }: PartitionContext): AsyncGenerator<PositionedChunk> =>
  sync.chunks(mapping, workOf(partition, 'rows'), () => deps.ledger.nextReadSeq());
