/**
 * How many chunks of a mapping are loaded at once in one process, whichever partitions they belong to. Retries and small
 * tenants take no slot: each has one chunk at a time.
 */
import type { PartitionWork } from '../ledger/runs/resume-point.js';
import { createFairSemaphore } from '../platform/fair-semaphore.js';

/** One chunk is read while the others are claimed, uploaded or polled (docs/performance.md). */
const CHUNKS_AT_ONCE = 4;

/** Chunks of changed rows are small, and a request without a response holds up its chunk for many seconds: others must go on. */
const CHUNKS_OF_CHANGED_ROWS_AT_ONCE = 12;

/** The chunk slots of a mapping. */
export interface ChunkSlots {
  /**
   * Resolves once a slot is the caller's, with the function that releases it; first come, first served. Rejects with the
   * signal's reason when it is aborted.
   */
  acquire(reads: PartitionWork['kind'], signal: AbortSignal): Promise<() => void>;
}

export function openChunkSlots(): ChunkSlots {
  const slots = createFairSemaphore(CHUNKS_AT_ONCE);
  const ofChangedRows = createFairSemaphore(CHUNKS_OF_CHANGED_ROWS_AT_ONCE);
  return {
    acquire: (reads, signal) => (reads === 'changed_rows' ? ofChangedRows : slots).acquire('chunks', signal),
  };
}
