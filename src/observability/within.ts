/** Bounds how long something is waited for. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The result of `work` if it comes within `ms`; otherwise rejects with what `late` makes, while the work goes on. */
export async function within<T>(ms: number, work: Promise<T>, late = () => new Error('too late')): Promise<T> {
  work.catch(() => undefined);
  const over = new AbortController();
  const limit = sleep(ms, undefined, { signal: over.signal, ref: false }).then(() => Promise.reject(late()));
  limit.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort();
  }
}
