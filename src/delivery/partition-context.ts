/** What the steps of a delivery share: one partition of a mapping, as this attempt has acquired it. */
import { ON_ANOTHER_WORKER } from '../domain/another-worker.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { GuardLimits } from '../domain/guard.js';
import type { SyncSpec } from '../domain/sync.js';
import type { PartitionRef, RunRef } from '../domain/work.js';
import type { AcquiredPartition } from '../ledger/runs/partitions.js';
import type { Chunk } from '../reading/chunk.js';
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
    /** No parent is a dead letter, and no child was given up. */
    allSendable: boolean;
  };
  /** Aborts when the activity is cancelled or has lost its worker. */
  readonly signal: AbortSignal;
}

/**
 * Acquires a partition with a new fencing token: earlier attempts at it can write no more.
 *
 * @throws PartnerSyncError `mapping_changed` if this worker's files are not those that the run began with
 */
export async function acquirePartition(
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
): Promise<PartitionContext> {
  const sync = await deps.openSync(ref.sync, ref.runId);
  // A worker that was frozen may resume after its attempt is over, and must not fence off the attempt that replaced it.
  signal.throwIfAborted();
  const partition = await deps.ledger.partitions.acquire(ref.partitionId);
  assertVersion(partition.runId, partition.mappingVersion, sync.spec);
  const known = { noDuplicates: false, allSendable: false };
  return { deps, sync, mapping: await sync.mapping(ref.mapping), partition, known, signal };
}

/**
 * The sync of a run, for work that depends on its files before it acquires a partition, or acquires none.
 *
 * @throws PartnerSyncError `mapping_changed` if this worker's files are not those that the run began with
 */
export async function openSyncOf(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  { runId, sync: name }: RunRef,
): Promise<OpenSync> {
  const sync = await openSync(name, runId);
  const run = await ledger.runs.get(runId);
  if (run === undefined) throw new PartnerSyncError('unexpected', `no run ${runId} in the ledger`);
  assertVersion(runId, run.mapping_version, sync.spec);
  return sync;
}

/**
 * Throws `mapping_changed` unless `version`, with which the run began, is the version of the files that are loaded
 * here.
 */
export function assertVersion(run: string, version: string, { name, version: here }: SyncSpec): void {
  if (version !== here)
    throw new PartnerSyncError(
      'mapping_changed',
      `run ${run} began with version ${version} of ${name}, the files are now ${here}`,
      ON_ANOTHER_WORKER,
    );
}

/** The chunks of the partition that are still to be read, in reading order. */
export const chunksOf = ({ deps, sync, mapping, partition }: PartitionContext): AsyncGenerator<Chunk> =>
  sync.chunks(mapping, partition, () => deps.ledger.nextReadSeq());
