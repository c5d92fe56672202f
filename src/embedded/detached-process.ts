/**
 * Servers in a process group of their own: a terminal's Ctrl-C reaches only us, so that we can drain the worker
 * before its database and its Temporal server go away.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithOwner, type EndingStep } from './end-with-owner.js';

export interface DetachedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Both output streams are appended here. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** How it is asked to end, also by others once we are gone. */
  readonly steps: readonly EndingStep[];
}

export interface DetachedProcess {
  readonly pid: number;
  /** How the process ended ("code 1", "SIGKILL"); undefined while it runs. */
  ending(): string | undefined;
  /** Resolves with the ending; never rejects. */
  readonly ended: Promise<string>;
}

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

/** True while the process runs. A zombie counts as gone: in a container whose pid 1 reaps nobody it stays for ever. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in brackets and may hold any character.
    return !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Sends the signals one after the other until the process is gone; the last resort is SIGKILL to its whole group. */
export async function endProcess(pid: number, steps: readonly EndingStep[]): Promise<void> {
  for (const step of steps) {
    sendSignal(pid, step.signal);
    if (await isGone(pid, step.waitMs)) return;
  }
  sendSignal(-pid, 'SIGKILL');
  await isGone(pid, 5_000);
}

async function isGone(pid: number, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (isAlive(pid)) {
    if (Date.now() >= deadline) return false;
    await sleep(25);
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

/** The end of a log file, for a message about the process that wrote it. */
export function tailOf(logFile: string, lines = 12): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
