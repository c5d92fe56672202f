/**
 * Builds the native part of the SQLite driver (`npm run build:sqlite`). npm does not build it on installation, because
 * that takes a minute and only SQLite sources and the tests need it. Plain Node, no dependency.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCli } from './stack/npm-cli.mjs';

const PACKAGE = fileURLToPath(new URL('../node_modules/better-sqlite3', import.meta.url));

/** Whether the native part exists. */
export const isSqliteBuilt = () => existsSync(join(PACKAGE, 'build', 'Release', 'better_sqlite3.node'));

/**
 * Builds the native part if it is missing, with the package's own install script. `runNode` runs a Node program and
 * resolves to its exit code, which is returned.
 */
export async function buildSqlite(runNode) {
  if (isSqliteBuilt()) return 0;
  console.error("Building the driver of SQLite: about a minute if it can't be downloaded.");
  const status = await runNode([npmCli(), 'run', 'install'], { cwd: PACKAGE, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0)
    console.error('The driver of SQLite was not built; its build needs Python, make and a C++ compiler.');
  return status;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await buildSqlite((args, how) => spawnSync(process.execPath, args, how).status ?? 1);
