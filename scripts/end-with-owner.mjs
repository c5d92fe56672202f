/**
 * Ends processes when the one that started them is gone, however it went: `endWithOwner(child, steps)`.
 *
 * A process that is killed cannot tidy up, so somebody else must: this file, run as a program of its own, holds the read end
 * of a pipe that the owner writes to. The operating system closes it with the owner. Plain Node, no dependency.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(import.meta.url);
/** Nobody is there any more who waits for a process to drain. */
const LONGEST_WAIT_MS = 10_000;
const LOOK_MS = 25;

let keeper;

/**
 * `steps`: signals, and how long each is given; the last resort is SIGKILL to the process and its group. The last process
 * named is ended first, so that nobody loses what it stands on.
 */
export function endWithOwner(child, steps = [{ signal: 'SIGTERM', waitMs: LONGEST_WAIT_MS }]) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  tell({ pid: child.pid, steps });
  // The number may be given to another program.
  child.once('exit', () => tell({ pid: child.pid }));
}

function tell(words) {
  if (keeper === undefined) {
    // In a session of its own, so that the terminal's Ctrl-C is the owner's business.
    keeper = spawn(process.execPath, [FILE], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    keeper.once('error', () => {});
    keeper.stdin.on('error', () => {});
    keeper.unref();
    keeper.stdin.unref?.();
  }
  keeper.stdin.write(`${JSON.stringify(words)}\n`);
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

async function end(pid, steps) {
  for (const { signal, waitMs } of steps) {
    send(pid, signal);
    if (await isGone(pid, Math.min(waitMs, LONGEST_WAIT_MS))) return;
  }
  // Its group is its own only if it leads one; otherwise there is none of this number.
  send(-pid, 'SIGKILL');
  send(pid, 'SIGKILL');
}

async function isGone(pid, waitMs) {
  for (const deadline = Date.now() + waitMs; send(pid, 0); await sleep(LOOK_MS))
    if (Date.now() >= deadline) return false;
  return true;
}

/** Whether there was somebody to send it to. A zombie is nobody: where pid 1 reaps nobody it stays for ever. */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
    return pid < 0 || process.platform !== 'linux' || !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return error.code === 'EPERM';
  }
}
