/**
 * How many chunks of a mapping are loaded at once in one process, whichever partitions they belong to. Retries and small
 * tenants take no slot: each has one chunk at a time.
 */
import { createFairSemaphore } from '../platform/fair-semaphore.js';

/** One chunk is read while the others are claimed, uploaded or polled (docs/performance.md). */
const CHUNKS_AT_ONCE = 4;

/** The chunk slots of a mapping. */
export interface ChunkSlots {
  /**
   * Resolves once a slot is the caller's, with the function that releases it; first come, first served. Rejects with the
   * signal's reason when it is aborted.
   */
  acquire(signal: AbortSignal): Promise<() => void>;
}

export function openChunkSlots(): ChunkSlots {
  const slots = createFairSemaphore(CHUNKS_AT_ONCE);
  return { acquire: (signal) => slots.acquire('chunks', signal) };
}
