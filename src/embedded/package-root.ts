/** The folder of the package itself, the same from `src` (tests) and from `dist` (the built program). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('the package.json of partner-sync is missing');
    folder = dirname(folder);
  }
  return folder;
}
