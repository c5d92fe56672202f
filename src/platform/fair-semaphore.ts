/** A semaphore whose waiters stand in several queues, which are served round-robin. */

export interface FairSemaphore {
  /** How many permits there are. Raising it lets waiters in at once; lowering it takes no permit from its holder. */
  atOnce: number;
  /** How many permits are taken now. */
  readonly acquired: number;
  /**
   * Waits for a permit, and resolves with the function that releases it. A queue is first in, first out; of two queues
   * each gets a permit in turn, however long the other one is. Rejects with the signal's reason when it is aborted.
   *
   * @param queue any value; equal ones name the same queue
   */
  acquire(queue: unknown, signal?: AbortSignal): Promise<() => void>;
}

export function createFairSemaphore(atOnce: number): FairSemaphore {
  let permits = atOnce;
  let acquired = 0;
  /** The waiters of each queue. The queue whose turn it is comes first; none is empty. */
  const queues = new Map<unknown, Set<() => void>>();

  const serve = (): void => {
    while (acquired < permits) {
      const first = queues.entries().next();
      if (first.done === true) return;
      const [queue, waiters] = first.value;
      const admit = waiters.values().next().value!;
      waiters.delete(admit);
      queues.delete(queue);
      if (waiters.size > 0) queues.set(queue, waiters);
      acquired++;
      admit();
    }
  };
  const release = (): void => {
    acquired--;
    serve();
  };
  const wait = (queue: unknown, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiters = queues.get(queue) ?? new Set();
      queues.set(queue, waiters);
      const admit = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiters.delete(admit);
        if (waiters.size === 0 && queues.get(queue) === waiters) queues.delete(queue);
        reject(signal!.reason as Error);
      };
      waiters.add(admit);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  return {
    get atOnce() {
      return permits;
    },
    set atOnce(next) {
      permits = next;
      serve();
    },
    get acquired() {
      return acquired;
    },
    async acquire(queue, signal) {
      signal?.throwIfAborted();
      if (acquired < permits && queues.size === 0) acquired++;
      else await wait(queue, signal);
      return release;
    },
  };
}
