/** Detects servers that survived an earlier run which was killed, by their pid file and their command line. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { isAlive } from './is-alive.js';

/**
 * The pid in the first line of the file, if that process is running and its command line contains `marker`, such as its
 * data folder.
 *
 * Otherwise the file is removed and the result is undefined. After a restart of the machine or container the pid may
 * belong to another program, and PostgreSQL refuses to start next to the pid file of a running process.
 */
export function leftoverServer(pidFile: string, marker: string): number | undefined {
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

/** The command line of a process; empty if it cannot be determined. */
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
