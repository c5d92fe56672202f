/**
 * Detects that the npm process which runs this script has ended, since npm's end does not end what it has started.
 * Plain Node, no dependency.
 */
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { clearInterval, setInterval } from 'node:timers';

const LOOK_MS = 500;

/**
 * Calls `callback` once when npm has ended, be it `npm run`, `npm exec` or `npx`; never if npm did not start this
 * process. Returns a function that stops watching.
 */
export function whenStarterIsGone(callback) {
  if (process.env.npm_lifecycle_event === undefined && process.env.npm_command !== 'exec') return () => {};
  // A shell between npm and this process may outlive npm, so the parent's parent is watched too.
  const parent = process.ppid;
  const above = parentOf(parent);
  const looking = setInterval(() => {
    if (process.ppid === parent && isThere(parent, above)) return;
    clearInterval(looking);
    callback();
  }, LOOK_MS);
  looking.unref();
  return () => clearInterval(looking);
}

/**
 * Whether the parent still has its own parent. On Linux that one may be a zombie, which a signal cannot distinguish from
 * a living process.
 */
function isThere(parent, above) {
  if (process.platform === 'linux') return parentOf(parent) === above;
  try {
    process.kill(above, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The pid of a process's parent; 0 or 1 if it cannot be determined. */
function parentOf(pid) {
  if (process.platform !== 'linux')
    return Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout) || 1;
  try {
    // The fields are name, state, parent; the name is in parentheses and may contain any character.
    return Number(/\) \S (\d+) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
