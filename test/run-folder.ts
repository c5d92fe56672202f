/** The folder of a test run: in memory where there is room, since tests create databases all the time. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
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
