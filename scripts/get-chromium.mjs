/**
 * Obtains a headless Chromium without installing it on the system: the one in the npm package @sparticuz/chromium, for
 * Linux on x64, with the libraries that a minimal system lacks. It is kept in the user's cache for every checkout on
 * the machine. Plain Node, no dependency.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { cacheFolder } from './stack/get-temporal.mjs';
import { npmCli } from './stack/npm-cli.mjs';

const VERSION = '153.0.0';
/** Of the package's archive, in Base64: what is executed must be exactly this version. */
const SHA512 = 'jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==';
const FOLDER = join(cacheFolder(), '..', `chromium-${VERSION}`);

/** The path of the program, whether or not it exists. */
export const packagedChromium = join(FOLDER, 'chromium.sh');

/** Downloads, verifies and unpacks it. Rejects with the reason if that is not possible. */
export async function getPackagedChromium() {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('there is none for this platform');
  console.error(`Getting Chromium ${VERSION} from npm (@sparticuz/chromium, 65 MB), for the tests in a browser ...`);
  mkdirSync(join(FOLDER, '..'), { recursive: true });
  const partial = mkdtempSync(`${FOLDER}-partial-`);
  try {
    run(
      process.execPath,
      [npmCli(), 'pack', '--loglevel=error', '--fetch-retries=0', `@sparticuz/chromium@${VERSION}`],
      partial,
    );
    const archive = `sparticuz-chromium-${VERSION}.tgz`;
    const found = createHash('sha512')
      .update(readFileSync(join(partial, archive)))
      .digest('base64');
    if (found !== SHA512) throw new Error(`the package has the SHA-512 ${found}; expected ${SHA512}`);
    run('tar', ['-xzf', archive], partial);
    const unpack = (name, to, mode) =>
      pipeline(
        createReadStream(join(partial, 'package', 'bin', name)),
        createBrotliDecompress(),
        createWriteStream(join(partial, to), { mode }),
      );
    await unpack('chromium.br', 'chromium', 0o755);
    await unpack('al2023.tar.br', 'libraries.tar', 0o644);
    run('tar', ['-xf', 'libraries.tar'], partial);
    const start = '#!/bin/sh\nhere=$(dirname "$0")\nLD_LIBRARY_PATH="$here/lib" exec "$here/chromium" "$@"\n';
    writeFileSync(join(partial, 'chromium.sh'), start, { mode: 0o755 });
    for (const name of [archive, 'package', 'libraries.tar']) rmSync(join(partial, name), { recursive: true });
    // Created in its own folder and renamed, so that an interrupted attempt is never mistaken for the program.
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(partial, FOLDER);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Runs a command to its end; throws with the first line of its errors. */
function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(error?.message ?? (stderr.trim().split('\n')[0] || `${command} failed`));
}
