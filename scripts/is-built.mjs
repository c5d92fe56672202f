/**
 * Decides whether dist was built from the current sources, by their content, since git does not preserve modification
 * times.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = [
  'src',
  'workflows',
  'activities',
  'scripts',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];
const hashFile = (root) => join(root, 'dist', '.source-hash');

/** Whether dist was built from the sources as they are now. */
export function isBuilt(root) {
  return existsSync(hashFile(root)) && readFileSync(hashFile(root), 'utf8') === sourceHash(root);
}

/** Stores in dist the hash that the build was made from. */
export function recordBuild(root, hash) {
  writeFileSync(hashFile(root), hash);
}

/** A hash of the paths and contents of everything that the build depends on. */
export function sourceHash(root) {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((source) => {
    if (!existsSync(join(root, source))) return [];
    if (source.includes('.')) return [source];
    return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  });
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}
