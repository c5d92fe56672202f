/** What the simulation itself needs of the real world, kept before the globals are replaced. */
const { setImmediate: immediate } = globalThis;
const now = performance.now.bind(performance);

export const REAL = {
  /** Milliseconds that have really passed. */
  now,
  /** Resolves once every promise and callback that is ready has run. */
  immediate: (): Promise<void> => new Promise((resolve) => immediate(resolve)),
};
