/** Ends child processes after this process has died, even by SIGKILL; see scripts/stack/end-with-owner.mjs. */
import type { ChildProcess } from 'node:child_process';
import { loadPlainScript } from './plain-script.js';

/** A step of ending a process: the signal, and how many milliseconds to wait before the next step. */
export interface EndingStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** What the script exports. */
interface Script {
  readonly endWithOwner: (child: ChildProcess, steps?: readonly EndingStep[]) => void;
}

/**
 * Registers a child process. Call it as soon as the process has started; processes are ended in reverse order of
 * registration.
 */
export const { endWithOwner } = await loadPlainScript<Script>('end-with-owner.mjs');
