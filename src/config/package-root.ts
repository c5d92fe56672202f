/** Locates the package's own folder, from `src` (in tests) as well as from `dist` (when built). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The nearest folder above this file that has a package.json; throws if there is none. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('the package.json of partner-sync is missing');
    folder = dirname(folder);
  }
  return folder;
}
