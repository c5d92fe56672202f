/** Notices that npm has ended; see scripts/stack/watch-npm.mjs. */
import { loadPlainScript } from './plain-script.js';

/** What the script exports. */
interface Script {
  readonly whenStarterIsGone: (callback: () => void) => () => void;
}

/** Calls `callback` once when the npm that has started this process is gone. Returns a function that stops watching. */
export const { whenStarterIsGone: watchNpm } = await loadPlainScript<Script>('watch-npm.mjs');
