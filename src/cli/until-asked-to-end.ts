/** What ends a server that was started in a terminal. */
import { watchNpm } from '../embedded/watch-npm.js';

/** Resolves at the first signal, or when the npm that has started this process is gone: its end ends nothing else. */
export const untilAskedToEnd = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
    watchNpm(resolve);
  });
