/** Bounds the groups of a mapping that this process works on at once, whichever of its slices they belong to. */
import pLimit, { type LimitFunction } from 'p-limit';

/** One is read while the others are claimed, on their way to the platform, or wait for its verdict (docs/performance.md). */
const GROUPS_AT_ONCE = 4;

/** Waits for a turn; the function that it answers ends it. */
export type TakeTurn = () => Promise<() => void>;

const limits = new Map<string, { readonly limit: LimitFunction; slices: number }>();

/** Does the work of a slice; its groups take turns with those of others that work for the same `whom`. */
export async function withTurns<T>(whom: string, work: (take: TakeTurn) => Promise<T>): Promise<T> {
  let shared = limits.get(whom);
  if (shared === undefined) limits.set(whom, (shared = { limit: pLimit(GROUPS_AT_ONCE), slices: 0 }));
  const { limit } = shared;
  shared.slices++;
  try {
    return await work(() => new Promise((begin) => void limit(() => new Promise<void>((end) => begin(() => end())))));
  } finally {
    if (--shared.slices === 0) limits.delete(whom);
  }
}
