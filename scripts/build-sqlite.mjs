/**
 * The native part of SQLite's driver, which npm does not build here: it takes a minute, and only who reads a SQLite file
 * (and the tests) needs it. `npm run build:sqlite` builds it. Plain Node, no dependency.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCli } from './install.mjs';

const PACKAGE = fileURLToPath(new URL('../node_modules/better-sqlite3', import.meta.url));

export const isSqliteBuilt = () => existsSync(join(PACKAGE, 'build', 'Release', 'better_sqlite3.node'));

/** Builds it where it is missing (the package's own install script), by way of `runNode`; answers the exit code. */
export async function buildSqlite(runNode) {
  if (isSqliteBuilt()) return 0;
  console.error("Building the driver of SQLite: about a minute where it can't be downloaded.");
  const status = await runNode([npmCli(), 'run', 'install'], { cwd: PACKAGE, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0)
    console.error('The driver of SQLite was not built; its build needs Python, make and a C++ compiler.');
  return status;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await buildSqlite((args, how) => spawnSync(process.execPath, args, how).status ?? 1);
