/**
 * Tells when the npm that runs this script is gone: its end, by a signal say, does not reach what it has started.
 * Plain Node, no dependency.
 */
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { clearInterval, setInterval } from 'node:timers';

const LOOK_MS = 500;

/** Calls `tell` once; never where npm has not started us. Answers the function that stops looking. */
export function whenStarterIsGone(tell) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  // Between npm and us there may be a shell, which lives on without npm: there is one to look at above it.
  const parent = process.ppid;
  const above = parentOf(parent);
  const looking = setInterval(() => {
    if (process.ppid === parent && isThere(parent, above)) return;
    clearInterval(looking);
    tell();
  }, LOOK_MS);
  looking.unref();
  return () => clearInterval(looking);
}

/** Whether the parent's parent is still there. On Linux it may be a zombie, which no signal tells from the living. */
function isThere(parent, above) {
  if (process.platform === 'linux') return parentOf(parent) === above;
  try {
    process.kill(above, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function parentOf(pid) {
  if (process.platform !== 'linux')
    return Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout) || 1;
  try {
    // The parent follows the state, which follows the name: that is in brackets and may hold any character.
    return Number(/\) \S (\d+) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
