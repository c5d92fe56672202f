/**
 * Runs servers in process groups of their own. A terminal's Ctrl-C then reaches only this process, which can drain the
 * worker before its database and its Temporal server stop.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithOwner, type EndingStep } from './end-with-owner.js';
import { isAlive } from './is-alive.js';
import { milliseconds } from '../domain/timeouts.js';

/** A program to start, and how to end it. */
export interface DetachedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Both output streams are appended to this file. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** How to end it; also applied after this process has died. */
  readonly steps: readonly EndingStep[];
}

/** A running program in a process group of its own. */
export interface DetachedProcess {
  readonly pid: number;
  /** How the process ended (`code 1`, `SIGKILL`); undefined while it runs. */
  ending(): string | undefined;
  /** Resolves with the ending; never rejects. */
  readonly ended: Promise<string>;
}

/**
 * Starts the program and resolves once it has been spawned, which does not mean that it is ready. Rejects if it
 * cannot be started.
 */
export async function spawnDetached(command: DetachedCommand): Promise<DetachedProcess> {
  const log = openSync(command.logFile, 'a', 0o600);
  try {
    const child = spawn(command.command, command.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: command.env ?? process.env,
      cwd: command.cwd,
      uid: command.uid,
      gid: command.gid,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    if (child.pid === undefined) throw new Error(`${command.command} did not start`);
    endWithOwner(child, command.steps);
    let ending: string | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => {
        ending = signal ?? `code ${code ?? 'unknown'}`;
        resolve(ending);
      });
    });
    return { pid: child.pid, ended, ending: () => ending };
  } finally {
    closeSync(log);
  }
}

/** Sends the signals in turn until the process has ended, then SIGKILL to its whole group. */
export async function endProcess(pid: number, steps: readonly EndingStep[]): Promise<void> {
  for (const step of steps) {
    sendSignal(pid, step.signal);
    if (await isGone(pid, step.waitMs)) return;
  }
  sendSignal(-pid, 'SIGKILL');
  await isGone(pid, milliseconds('killedProcess'));
}

/** Waits up to `waitMs` milliseconds for the process to end; returns whether it has. */
async function isGone(pid: number, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (isAlive(pid)) {
    if (Date.now() >= deadline) return false;
    await sleep(milliseconds('endLook'));
  }
  return true;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The last lines of a log file, for an error message about the process that wrote it. */
export function tailOf(logFile: string, lines = 12): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
