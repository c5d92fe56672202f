/** Bounds what reading metrics costs, however often and by however many they are asked for. */

/**
 * The result of `read`, which is called again once the last result is `ms` old. Callers meanwhile share one call; a
 * failure is not kept.
 */
export function cachedFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  /** Infinite while the result is awaited: calls to a server that hangs must not pile up. */
  let until = Infinity;
  return () => {
    if (kept !== undefined && performance.now() < until) return kept;
    until = Infinity;
    kept = read();
    kept.then(
      () => (until = performance.now() + ms),
      () => (kept = undefined),
    );
    return kept;
  };
}
