/** Which task queue the time slices of a run wait in, so that they leave activity slots to the other runs. */
import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import { onLoadQueue, activitiesWithSummary, type LoadActivities } from './activities.js';

/** How many mappings of a run may have a time slice on the common queue: far fewer than a worker's activity slots. */
const MAPPINGS_ON_COMMON_QUEUE = 4;

/** About two minutes of time slices of each of these mappings. */
const SLICES_WITHOUT_WAIT = 32;

/** One for each run (ADR 0032). */
export class TimeSliceDispatch {
  /** The mappings that have a time slice on the common queue. */
  readonly #onCommonQueue = new Set<string>();
  /**
   * Set when a time slice has waited in the load queue in vain: how many may go straight to the common queue before the
   * next one tries the load queue.
   */
  #withoutWait = 0;

  /**
   * Runs a time slice on the load queue. If no worker has a free slot for too long, resolves with null: the caller tries
   * again, unless the run was paused meanwhile. It then goes to the common queue, so that a run goes on even if its own time
   * slices or those of others are stuck; but only one time slice of a mapping, and of few mappings.
   */
  async run<T>(mapping: string, summary: string, slice: (activities: LoadActivities) => Promise<T>): Promise<T | null> {
    if (this.#withoutWait > 0 && this.#mayUseCommonQueue(mapping)) return this.#onCommon(mapping, summary, slice);
    try {
      const result = await slice(onLoadQueue(summary));
      this.#withoutWait = 0;
      return result;
    } catch (error) {
      if (!hasWaitedTooLong(error)) throw error;
      this.#withoutWait = SLICES_WITHOUT_WAIT;
      return null;
    }
  }

  #mayUseCommonQueue(mapping: string): boolean {
    return !this.#onCommonQueue.has(mapping) && this.#onCommonQueue.size < MAPPINGS_ON_COMMON_QUEUE;
  }

  async #onCommon<T>(mapping: string, summary: string, slice: (activities: LoadActivities) => Promise<T>): Promise<T> {
    this.#onCommonQueue.add(mapping);
    this.#withoutWait--;
    try {
      return await slice(activitiesWithSummary(summary));
    } finally {
      this.#onCommonQueue.delete(mapping);
    }
  }
}

/**
 * Whether no worker has taken the time slice from the load queue in time. An earlier attempt of it may have, and may even
 * be running still: the next time slice of the partition fences it off.
 */
const hasWaitedTooLong = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_START';
