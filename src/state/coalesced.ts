/**
 * Many small writes as few: what is asked for while one write is under way, or within `within` milliseconds of the first
 * that waits, goes into the next.
 */
import { setTimeout as sleep } from 'node:timers/promises';

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
