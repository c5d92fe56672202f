/** Installs packages of Debian or Ubuntu, if this process is allowed to. Plain Node, no dependency. */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endWithOwner } from './stack/end-with-owner.mjs';
import { findOnPath } from './stack/get-temporal.mjs';

let updated = false;

/**
 * Installs the packages; `whatFor` completes the message on standard error. Rejects with the reason if there is no
 * apt-get, no root access or no such package.
 */
export async function aptGet(packages, whatFor) {
  if (!findOnPath('apt-get')) throw new Error('there is no apt-get here');
  if (process.getuid?.() !== 0) throw new Error('it needs root');
  console.error(`Installing ${packages.join(' and ')} with apt-get, for ${whatFor} ...`);
  // A new machine or image has no package lists yet.
  if (!updated) await run(['update']);
  updated = true;
  await run(['install', '-y', '--no-install-recommends', ...packages]);
}

/**
 * Unpacks a package into `folder` without installing it, for which no root access is needed: installing a server's
 * package would start the server. Rejects like {@link aptGet}.
 */
export async function aptUnpack(name, folder, whatFor) {
  if (!findOnPath('apt-get')) throw new Error('there is no apt-get here');
  console.error(`Getting ${name} with apt-get, for ${whatFor} ...`);
  if (!updated && process.getuid?.() === 0) {
    await run(['update']);
    updated = true;
  }
  await run(['download', name], folder);
  const archive = join(
    folder,
    readdirSync(folder).find((each) => each.endsWith('.deb')),
  );
  const { status, stderr } = spawnSync('dpkg-deb', ['-x', archive, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr?.trim() || 'dpkg-deb failed');
  rmSync(archive);
}

/** Runs apt-get to its end and rejects with its error line. */
function run(args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      cwd,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithOwner(child);
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors = (errors + chunk).slice(-2_000)));
    child.once('error', reject);
    child.once('close', (code) => {
      const why =
        errors
          .trim()
          .split('\n')
          .find((line) => line.startsWith('E:')) ?? errors.trim().split('\n').at(-1);
      if (code === 0) resolve();
      else reject(new Error(`${why} (apt-get ${args[0]}, exit code ${code})`));
    });
  });
}
