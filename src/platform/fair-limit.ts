/** Bounds how many do something at once. Those who wait stand in lanes, which are served in turn. */

export interface FairLimit {
  /** How many may have room at once. When it is raised, those who wait are let in; when it is lowered, nobody is put out. */
  atOnce: number;
  /**
   * Waits for room, and resolves with the function that gives it back. Of one lane whoever came first is first; of two
   * lanes each is let in in turn, however long the other one is. Rejects with the signal's reason when it is aborted.
   *
   * @param lane any value; equal ones are one lane
   */
  enter(lane: unknown, signal?: AbortSignal): Promise<() => void>;
}

export function createFairLimit(atOnce: number): FairLimit {
  let most = atOnce;
  let inside = 0;
  /** Those who wait. The lane whose turn it is comes first; none is empty. */
  const lanes = new Map<unknown, Set<() => void>>();

  const letIn = (): void => {
    while (inside < most) {
      const first = lanes.entries().next();
      if (first.done === true) return;
      const [lane, waiting] = first.value;
      const begin = waiting.values().next().value!;
      waiting.delete(begin);
      lanes.delete(lane);
      if (waiting.size > 0) lanes.set(lane, waiting);
      inside++;
      begin();
    }
  };
  const leave = (): void => {
    inside--;
    letIn();
  };
  const wait = (lane: unknown, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiting = lanes.get(lane) ?? new Set();
      lanes.set(lane, waiting);
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.delete(begin);
        if (waiting.size === 0 && lanes.get(lane) === waiting) lanes.delete(lane);
        reject(signal!.reason as Error);
      };
      waiting.add(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  return {
    get atOnce() {
      return most;
    },
    set atOnce(next) {
      most = next;
      letIn();
    },
    async enter(lane, signal) {
      signal?.throwIfAborted();
      if (inside < most && lanes.size === 0) inside++;
      else await wait(lane, signal);
      return leave;
    },
  };
}
