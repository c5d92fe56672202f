/** Where the loads of a run wait for a worker, so that they leave room for the loads and the other steps of all runs. */
import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import { onLoadQueue, summarized, type Loads } from './activities.js';

/** How many mappings of a run may have a load with any worker: far fewer than the activities that a worker has room for. */
const MAPPINGS_WITH_ANY_WORKER = 4;

/** About two minutes of loads of each of these mappings. */
const LOADS_WITHOUT_WAIT = 32;

/** One for each run (ADR 0032). */
export class LoadDispatch {
  /** The mappings that have a load with any worker. */
  readonly #withAnyWorker = new Set<string>();
  /**
   * Once a wait for a worker with room was in vain: how many loads do without such a wait if they can, before another one
   * tries it.
   */
  #withoutWait = 0;

  /**
   * Waits for a worker with room for a load. If none has any for too long, any worker gets it, so that a run whose own
   * loads or those of others are stuck goes on; but only one load of a mapping, and of few mappings. Resolves with null if
   * the load is to wait for its turn again.
   */
  async load<T>(mapping: string, summary: string, loadWith: (loads: Loads) => Promise<T>): Promise<T | null> {
    if (this.#withoutWait > 0 && this.#mayGoToAny(mapping)) return this.#loadWithAny(mapping, summary, loadWith);
    try {
      const result = await loadWith(onLoadQueue(summary));
      this.#withoutWait = 0;
      return result;
    } catch (error) {
      if (!isNeverStarted(error)) throw error;
      this.#withoutWait = LOADS_WITHOUT_WAIT;
      return this.#mayGoToAny(mapping) ? this.#loadWithAny(mapping, summary, loadWith) : null;
    }
  }

  #mayGoToAny(mapping: string): boolean {
    return !this.#withAnyWorker.has(mapping) && this.#withAnyWorker.size < MAPPINGS_WITH_ANY_WORKER;
  }

  async #loadWithAny<T>(mapping: string, summary: string, loadWith: (loads: Loads) => Promise<T>): Promise<T> {
    this.#withAnyWorker.add(mapping);
    this.#withoutWait--;
    try {
      return await loadWith(summarized(summary));
    } finally {
      this.#withAnyWorker.delete(mapping);
    }
  }
}

/** Only then is it safe to hand the load on: one that has started may still be running. */
const isNeverStarted = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_START';
