/** Seeded random numbers, in streams of their own: what one part draws does not change what another one does. */

export interface Random {
  /** From 0 inclusive to 1 exclusive. */
  next(): number;
  /** A whole number, both bounds inclusive. */
  between(least: number, most: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** The stream with this name of this seed. */
export function randomOf(seed: number, stream: string): Random {
  let state = hashOf(`${seed}/${stream}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)]!,
    shuffled(items) {
      const order = [...items];
      for (let i = order.length - 1; i > 0; i--) {
        const other = between(0, i);
        [order[i], order[other]] = [order[other]!, order[i]!];
      }
      return order;
    },
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}
