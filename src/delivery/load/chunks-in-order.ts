/**
 * Works on the chunks of a partition side by side and finishes them in order.
 *
 * - A chunk is begun only once it has a slot. All partitions of a mapping in one process share the slots, so that the
 *   memory of a worker does not grow with the number of partitions that it loads.
 * - A chunk is finished (its checkpoint written) only after every chunk before it: a resume point must never pass rows
 *   without an outcome.
 * - Once a chunk has failed, no other is begun or finished, and all that were begun are awaited before the failure is
 *   reported: nothing may outlive the attempt, least of all a POST.
 */

/** What is done with each chunk. */
export interface ChunkWork<Chunk, Result> {
  /** Waits for a slot; returns the function that releases it. */
  acquireSlot(): Promise<() => void>;
  /** Runs while other chunks are delivered. */
  deliver(chunk: Chunk): Promise<Result>;
  /** Runs alone, in the order of the chunks. */
  finish(chunk: Chunk, result: Result): Promise<void>;
}

/**
 * Works through the chunks until there are no more, or `shouldContinue` returns false before the next one is read.
 *
 * @returns whether all of the chunks were finished
 * @throws the failure of the first chunk, in their order, that failed, or the failure of reading the next one
 */
export async function chunksInOrder<Chunk, Result>(
  chunks: AsyncGenerator<Chunk>,
  shouldContinue: () => boolean,
  work: ChunkWork<Chunk, Result>,
): Promise<boolean> {
  let failed = false;
  /** Resolves or rejects once every chunk that was begun is finished. */
  let finished: Promise<void> = Promise.resolve();
  const begin = (chunk: Chunk): Promise<void> => {
    const delivery = work.deliver(chunk);
    const next = finishAfter(finished, delivery, (result) => work.finish(chunk, result));
    // The delivery may have failed long before the chunks before it are finished.
    for (const end of [delivery, next]) end.catch(() => (failed = true));
    return next;
  };
  let exhausted = false;
  try {
    do {
      const release = await work.acquireSlot();
      try {
        // Another chunk may have failed while this one waited for its slot, or was read.
        if (failed) break;
        const next = await chunks.next();
        if (failed) break;
        if (next.done === true) exhausted = true;
        else finished = begin(next.value);
      } finally {
        void Promise.allSettled([finished]).then(release);
      }
    } while (!exhausted && shouldContinue());
  } finally {
    await chunks.return(undefined);
    await Promise.allSettled([finished]);
  }
  await finished;
  return exhausted;
}

/** Awaits both, even if one fails; a failure of the chunk before is reported first. */
async function finishAfter<Result>(
  before: Promise<void>,
  delivery: Promise<Result>,
  finish: (result: Result) => Promise<void>,
): Promise<void> {
  const [order, delivered] = await Promise.allSettled([before, delivery]);
  if (order.status === 'rejected') throw order.reason;
  if (delivered.status === 'rejected') throw delivered.reason;
  await finish(delivered.value);
}
