/** Ends a process that we started once we are gone, even if nobody could ask us to: see scripts/end-with-owner.mjs. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.js';

/** One step of ending a process: the signal, and how long it is given before the next step. */
export interface EndingStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

interface Script {
  readonly endWithOwner: (child: ChildProcess, steps?: readonly EndingStep[]) => void;
}

// Plain Node, since scripts/bootstrap.mjs needs the same before anything is built.
const file = pathToFileURL(join(packageRoot(), 'scripts', 'end-with-owner.mjs')).href;

/** To be called as soon as the process has started; those named last are ended first. */
export const { endWithOwner } = (await import(/* @vite-ignore */ file)) as Script;
