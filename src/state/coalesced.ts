/** Many small writes as few: what is asked for while one write is under way goes into the next. */
export function coalesced<T>(write: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let gathering: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (gathering === undefined) {
      const items: T[] = [];
      const written = running.then(() => {
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
