/** Servers that an earlier run left behind (it was killed): told by a pid file, and by what the process really is. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { isAlive } from './detached-process.js';

/**
 * The pid in the first line of the file, when that process lives and its command line names the marker (its data
 * folder). Otherwise the file is removed: after a restart of the machine or container the pid may belong to another
 * program, and PostgreSQL refuses to start beside the pid file of a living process.
 */
export function leftBehind(pidFile: string, marker: string): number | undefined {
  let pid: number;
  try {
    pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  } catch {
    return undefined;
  }
  if (Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) && commandOf(pid).includes(marker)) return pid;
  rmSync(pidFile, { force: true });
  return undefined;
}

/** The command line of a process; empty when it cannot be told. */
function commandOf(pid: number): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).stdout ?? '';
}
