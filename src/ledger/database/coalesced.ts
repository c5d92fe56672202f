/** Gathers many small writes into a few. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a function that hands its item to the next write, and resolves or rejects with that write. A write begins `within`
 * milliseconds after its first item, or when the write before it is done, whichever is later.
 */
export function coalesced<T>(
  within: number,
  write: (items: readonly T[]) => Promise<void>,
): (item: T) => Promise<void> {
  let gathering: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (gathering === undefined) {
      const items: T[] = [];
      const written = Promise.all([running, sleep(within)]).then(() => {
        gathering = undefined;
        return write(items);
      });
      running = written.catch(() => undefined);
      gathering = { items, written };
    }
    gathering.items.push(item);
    return gathering.written;
  };
}
