/** Checks whether node_modules matches package-lock.json, and runs `npm ci`. Plain Node, no dependency. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCli } from './stack/npm-cli.mjs';

/**
 * Compares the lock file with npm's own record of what it installed, which npm writes last, so that an interrupted
 * install has none.
 *
 * It detects an update by `git pull`, and accepts packages that the user installed with `npm ci` or `npm install`. Throws if
 * package-lock.json is missing or damaged.
 */
export function isInstalled(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) throw new Error('package-lock.json is missing or damaged: restore it with git.');
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([place, { version, integrity, optional, devOptional }]) => {
    // npm does not record the root; optional packages may be for another platform.
    if (place === '' || ((optional || devOptional) && installed[place] === undefined)) return true;
    return installed[place]?.version === version && installed[place]?.integrity === integrity;
  });
}

/** Runs `npm ci` through `runNode`, without a shell; resolves to the exit code. */
export async function npmCi(root, runNode) {
  console.error('Installing the packages of package-lock.json (npm ci): about a minute on a first run.');
  const code = await runNode([npmCli(), 'ci']);
  if (code !== 0) console.error(`npm ci failed (exit code ${code}); its own messages are above.`);
  return code;
}

/** The packages of a lock file by path; undefined if it cannot be read. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
