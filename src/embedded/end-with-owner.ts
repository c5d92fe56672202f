/** Ends child processes after this process has died, even by SIGKILL; see scripts/end-with-owner.mjs. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../config/package-root.js';

/** A step of ending a process: the signal, and how many milliseconds to wait before the next step. */
export interface EndingStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** What the script exports. */
interface Script {
  readonly endWithOwner: (child: ChildProcess, steps?: readonly EndingStep[]) => void;
}

// A plain Node script, because scripts/bootstrap.mjs needs it before anything is built.
const file = pathToFileURL(join(packageRoot(), 'scripts', 'stack', 'end-with-owner.mjs')).href;

/**
 * Registers a child process. Call it as soon as the process has started; processes are ended in reverse order of
 * registration.
 */
export const { endWithOwner } = (await import(/* @vite-ignore */ file)) as Script;
