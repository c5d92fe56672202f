/**
 * What code finds out about where it runs, across awaits: its process, its activity, its workflow. All of it is in one
 * AsyncLocalStorage, for each further one would cost every promise of a story.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<Readonly<Record<symbol, unknown>>>();

/** A place for one value; used as an AsyncLocalStorage is. */
export class Slot<T> {
  readonly #key = Symbol('slot');

  getStore(): T | undefined {
    return storage.getStore()?.[this.#key] as T | undefined;
  }

  /** Runs `work`, and all that it sets going, with this value. */
  run<R>(value: T, work: () => R): R {
    return storage.run({ ...storage.getStore(), [this.#key]: value }, work);
  }
}
