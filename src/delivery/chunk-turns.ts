/**
 * Turns of chunks: how many chunks of a mapping are in progress at once in one process, whichever loads they belong to.
 */

/** One chunk is read while the others are claimed, uploaded or polled (docs/performance.md). */
const CHUNKS_AT_ONCE = 4;

/** Bounds how many chunks are in progress at once; turns are given in the order in which they were asked for. */
export class ChunkTurns {
  #free = CHUNKS_AT_ONCE;
  readonly #queue: (() => void)[] = [];

  /** Resolves when it is the caller's turn, with the function that gives the turn back. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((begin) => this.#queue.push(begin));
    return () => {
      const next = this.#queue.shift();
      // The turn passes straight to whoever has waited longest.
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
