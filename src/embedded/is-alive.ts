/** Tells whether a process of this machine is running. */
import { readFileSync } from 'node:fs';

/**
 * Whether a process with this pid is running. A zombie counts as ended: in a container whose pid 1 does not reap
 * children it would stay forever.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    // The state follows the name, which is in parentheses and may contain any character.
    return !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
