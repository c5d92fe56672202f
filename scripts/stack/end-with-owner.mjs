/**
 * Ends child processes when the process that started them is gone, for whatever reason.
 *
 * A process that is killed cannot clean up, so a second one does: this file, run as a program, reads a pipe from the
 * owner. The operating system closes the pipe when the owner ends. Plain Node, no dependency.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(import.meta.url);
/** Limit of each step: once the owner is gone, draining serves no purpose. */
const LONGEST_WAIT_MS = 10_000;
const LOOK_MS = 25;

let keeper;

/**
 * Registers a child process, to be ended when this process is gone.
 *
 * `steps` are signals and how long to wait after each; the last resort is SIGKILL to the process and its group.
 * Processes are ended in reverse order of registration, so that none loses a server that it depends on.
 */
export function endWithOwner(child, steps = [{ signal: 'SIGTERM', waitMs: LONGEST_WAIT_MS }]) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  tell({ pid: child.pid, steps });
  // The operating system may reuse the pid of an ended process, so it must not be signalled later.
  child.once('exit', () => tell({ pid: child.pid }));
}

/** Writes a message to the watching process, which is started on first use. */
function tell(message) {
  if (keeper === undefined) {
    // In its own session, so that a terminal's Ctrl-C does not end it before the owner.
    keeper = spawn(process.execPath, [FILE], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    keeper.once('error', () => {});
    keeper.stdin.on('error', () => {});
    keeper.unref();
    keeper.stdin.unref?.();
  }
  keeper.stdin.write(`${JSON.stringify(message)}\n`);
}

if (process.argv[1] === FILE) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  const kept = new Map();
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const { pid, steps } = JSON.parse(line);
      if (steps === undefined) kept.delete(pid);
      else kept.set(pid, steps);
    })
    .once('close', async () => {
      for (const [pid, steps] of [...kept].reverse()) await end(pid, steps);
      process.exit(0);
    });
}

/** Applies the steps to a process until it has ended. */
async function end(pid, steps) {
  for (const { signal, waitMs } of steps) {
    send(pid, signal);
    if (await isGone(pid, Math.min(waitMs, LONGEST_WAIT_MS))) return;
  }
  // A group with this number exists only if the process leads one.
  send(-pid, 'SIGKILL');
  send(pid, 'SIGKILL');
}

/** Waits up to `waitMs` for the process to end; returns whether it has. */
async function isGone(pid, waitMs) {
  const deadline = Date.now() + waitMs;
  while (send(pid, 0)) {
    if (Date.now() >= deadline) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

/**
 * Sends a signal and returns whether the process exists. A zombie does not count: it would stay forever if pid 1 does not reap
 * children.
 */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
    return pid < 0 || process.platform !== 'linux' || !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return error.code === 'EPERM';
  }
}
