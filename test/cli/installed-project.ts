/** A project in which partner-sync is installed, without any of its optional packages. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What package.json declares. */
export const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies' | 'peerDependencies' | 'peerDependenciesMeta',
  Record<string, unknown>
>;

export interface InstalledProject {
  readonly folder: string;
  /** The entry point of the command line. */
  readonly cli: string;
  remove(): void;
}

/**
 * dist must be built. The package's files are copied, so that modules are looked for in the project; its dependencies are
 * linked.
 */
export function installedProject(): InstalledProject {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-installed-'));
  const modules = join(folder, 'node_modules');
  for (const part of ['package.json', 'bin', 'dist', 'mappings', 'scripts/stack'])
    cpSync(join(ROOT, part), join(modules, 'partner-sync', part), { recursive: true });
  for (const name of Object.keys(PACKAGE.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  return {
    folder,
    cli: join(modules, 'partner-sync/dist/src/cli/main.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
