/** Installs packages of Debian's or Ubuntu's, where we may. Plain Node, no dependency. */
import { spawn } from 'node:child_process';
import { endWithOwner } from './end-with-owner.mjs';
import { findOnPath } from './get-temporal.mjs';

let updated = false;

/** Rejects with the reason where it cannot be done. */
export async function aptGet(packages, whatFor) {
  if (!findOnPath('apt-get')) throw new Error('there is no apt-get here');
  if (process.getuid?.() !== 0) throw new Error('it needs root');
  console.error(`Installing ${packages.join(' and ')} with apt-get, for ${whatFor} ...`);
  // A fresh machine or image has no lists of packages.
  if (!updated) await run(['update']);
  updated = true;
  await run(['install', '-y', '--no-install-recommends', ...packages]);
}

function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithOwner(child);
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => (words = (words + chunk).slice(-2_000)));
    child.once('error', reject);
    child.once('close', (code) => {
      const why =
        words
          .trim()
          .split('\n')
          .find((line) => line.startsWith('E:')) ?? words.trim().split('\n').at(-1);
      if (code === 0) resolve();
      else reject(new Error(`${why} (apt-get ${args[0]}, exit code ${code})`));
    });
  });
}
