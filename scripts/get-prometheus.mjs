/**
 * Obtains Prometheus without installing it on the system: the one of Debian or Ubuntu, kept in the user's cache for
 * every checkout on the machine. Plain Node, no dependency.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aptUnpack } from './apt-get.mjs';
import { cacheFolder } from './stack/get-temporal.mjs';

const FOLDER = join(cacheFolder(), '..', 'prometheus');

/** The folder of the programs, whether or not they are there. */
export const packagedPrometheus = join(FOLDER, 'usr', 'bin');

/** Downloads and unpacks it. Rejects with the reason if that is not possible. */
export async function getPackagedPrometheus() {
  mkdirSync(join(FOLDER, '..'), { recursive: true });
  const partial = mkdtempSync(`${FOLDER}-partial-`);
  try {
    await aptUnpack('prometheus', partial, 'the tests of metrics');
    // Unpacked in its own folder and renamed, so that an interrupted attempt is never mistaken for the programs.
    rmSync(FOLDER, { recursive: true, force: true });
    renameSync(partial, FOLDER);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
