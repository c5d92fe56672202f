/** Something that several test files need is created by the first that asks for it, and kept until the test run ends. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';

/**
 * Answers what the first caller's `make` answered; callers in other processes wait for it meanwhile. A failed `make` is
 * left to the next caller.
 *
 * @param name of a file: it is unique in the run.
 */
export async function oncePerRun(name: string, make: () => Promise<string>): Promise<string> {
  const file = join(inject('runFolder'), 'made', name);
  if (!existsSync(file)) await alone(name, async () => existsSync(file) || writeWhole(file, await make()));
  return readFileSync(file, 'utf8');
}

/** Renamed into place, so that nobody reads half of it. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.partial`, text);
  renameSync(`${file}.partial`, file);
}

/** Runs `work` while no other process of the run does work of this name. */
async function alone(name: string, work: () => Promise<unknown>): Promise<void> {
  const lock = new pg.Client({ connectionString: inject('postgresUrl') });
  await lock.connect();
  try {
    // The database of the server ends the lock with its session, also that of a process that was killed.
    await lock.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    await work();
  } finally {
    await lock.end();
  }
}
