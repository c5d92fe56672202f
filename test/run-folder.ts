/**
 * The folder of a test run: in memory where there is room, since tests create databases all the time: of MariaDB, each has taken ten
 * seconds on a machine with a slow disk.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../src/embedded/is-alive.js';

/** Linux keeps what is written here in memory. In a container it may be very small. */
const IN_MEMORY = '/dev/shm';
/** Bytes: several times what a run stores at once. */
const ROOM = 4 * 1024 ** 3;
const NAME = 'partner-sync-test';

/** A new folder, which every account may enter: as root, PostgreSQL runs under another one. */
export function createRunFolder(): string {
  const memory = existsSync(IN_MEMORY);
  if (memory) removeLeftFolders();
  const folder = mkdtempSync(join(memory && roomInMemory() >= ROOM ? IN_MEMORY : tmpdir(), `${NAME}-${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * The same for all that the tests and the programs which they start put into the system's temporary folder, unless the caller has
 * chosen one, or nothing may be executed there: some containers forbid that in memory.
 */
export function keepTemporaryFilesIn(runFolder: string): void {
  if (process.env['TMPDIR'] !== undefined) return;
  const folder = join(runFolder, 'tmp');
  mkdirSync(folder);
  chmodSync(folder, 0o1777);
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  if (status === 0) process.env['TMPDIR'] = folder;
}

function roomInMemory(): number {
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize;
}

/** A run that was killed leaves its folder behind, which would occupy the memory until the machine restarts. */
function removeLeftFolders(): void {
  for (const name of readdirSync(IN_MEMORY)) {
    const owner = new RegExp(`^${NAME}-(\\d+)-`).exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(IN_MEMORY, name), { recursive: true, force: true });
  }
}
