/**
 * A semaphore: how many chunks of a mapping are loaded at once in one process, whichever partitions they belong to.
 * Retries and small tenants take none: each has one chunk at a time.
 */

/** One chunk is read while the others are claimed, uploaded or polled (docs/performance.md). */
const CHUNKS_AT_ONCE = 4;

/** The chunk slots of a mapping. First come, first served. */
export class ChunkSlots {
  #free = CHUNKS_AT_ONCE;
  readonly #queue: (() => void)[] = [];

  /** Resolves once a slot is the caller's, with the function that releases it. */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((begin) => this.#queue.push(begin));
    return () => {
      const next = this.#queue.shift();
      // The slot passes straight to whoever has waited longest.
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
