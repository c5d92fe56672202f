/** Whether node_modules is what package-lock.json asks for, and `npm ci` where it is not. Plain Node, no dependency. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Compares npm's own record of what it installed (written last, so that an interrupted install has none) with the lock
 * file: after `git pull` it differs, after somebody's own `npm ci` or `npm install` it does not.
 */
export function isInstalled(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) throw new Error('package-lock.json is missing or damaged: restore it with git.');
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([place, { version, integrity, optional, devOptional }]) => {
    // The root itself is not recorded; optional packages may be for another platform.
    if (place === '' || ((optional || devOptional) && installed[place] === undefined)) return true;
    return installed[place]?.version === version && installed[place]?.integrity === integrity;
  });
}

/** Runs `npm ci` by way of `runNode`, without a shell. */
export async function npmCi(root, runNode) {
  console.error('Installing the packages of package-lock.json (npm ci): about a minute on a first run.');
  const code = await runNode([npmCli(), 'ci']);
  if (code !== 0) console.error(`npm ci failed (exit code ${code}); its own words are above.`);
  return code;
}

/** npm's own program, to be run by Node. */
export function npmCli() {
  const besideNode = join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const onWindows = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  // Set by `npm run`; under yarn or pnpm it names their program.
  const running = process.env.npm_execpath ?? '';
  const found = [...(running.endsWith('npm-cli.js') ? [running] : []), besideNode, onWindows].find((p) =>
    existsSync(p),
  );
  if (found === undefined) throw new Error('npm was not found beside Node. Run "npm ci", then this command again.');
  return found;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
