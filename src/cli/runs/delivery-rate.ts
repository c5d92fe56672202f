/** How many changes a run delivers in a second, as far as it was watched. */

/** The rate over a while, from counts that somebody looks at again and again. */
export class DeliveryRate {
  readonly #window: number;
  readonly #counts = new Map<string, number>();
  /** What was delivered up to several moments: the first one is the last before the window. */
  #seen: { readonly at: number; readonly delivered: number }[] = [];

  /** @param window the milliseconds over which changes are counted */
  constructor(window: number) {
    this.#window = window;
  }

  /**
   * The changes a second, not 0 if there were any; null for the first look.
   *
   * @param at the moment, in milliseconds
   * @param counts of each mapping; one that has become less belongs to the next run, and one that is new counts from now on
   */
  next(at: number, counts: ReadonlyMap<string, number>): number | null {
    let delivered = this.#seen.at(-1)?.delivered ?? 0;
    for (const [mapping, count] of counts) {
      const before = this.#counts.get(mapping) ?? count;
      delivered += count < before ? count : count - before;
      this.#counts.set(mapping, count);
    }
    this.#seen.push({ at, delivered });
    const begin = this.#seen.findLastIndex((seen) => seen.at <= at - this.#window);
    if (begin > 0) this.#seen = this.#seen.slice(begin);
    const first = this.#seen[0]!;
    if (first.at === at) return null;
    const rate = (delivered - first.delivered) / ((at - first.at) / 1000);
    if (rate === 0) return 0;
    return rate >= 10 ? Math.round(rate) : Math.max(0.1, Math.round(rate * 10) / 10);
  }
}
