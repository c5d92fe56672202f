/** Concurrent work, none of which outlives the attempt that began it. */

/**
 * The results of all, in their order. If some reject, waits for the others as well, and then rejects as the first of them in
 * their order: after `Promise.all` the others would go on to send and write, beside the next attempt.
 */
export async function allEnded<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
