/** Where the package keeps its mappings/ folder: the language's JSON Schemas live there, for editors and for us. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Walks up to package.json, since this file runs from src/ in tests and from dist/src/ when built. */
export function languageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json not found above the mapping code');
    folder = parent;
  }
  return join(folder, 'mappings');
}
