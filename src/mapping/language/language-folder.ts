/** Finds the mappings/ folder of this package, with the language's JSON Schemas, for editors and for us. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Searched upwards from this file, which is in src/ in tests and in dist/src/ when built. */
export function languageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json not found above the mapping code');
    folder = parent;
  }
  return join(folder, 'mappings');
}
