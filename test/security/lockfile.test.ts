/** What npm installs is what was chosen: each package in one version, by its hash, and nothing of ours runs while it is installed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../docs/pages.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

const read = <T>(file: string): T => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as T;
const { packages } = read<{ packages: Record<string, LockedPackage> }>('package-lock.json');
const manifest = read<Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>>('package.json');

it('each package has a version, and the hash of what the registry has under it', () => {
  const installed = Object.entries(packages).filter(([path]) => path !== '');
  expect(installed.length).toBeGreaterThan(300);
  const loose = installed.filter(
    ([, { version, integrity = '', resolved, link, inBundle }]) =>
      // What is in the archive of another package has the hash of that one.
      !/^\d+\.\d+\.\d+/.test(version ?? '') ||
      (inBundle !== true && !/^sha512-[\w+/]{86}==$/.test(integrity)) ||
      resolved !== undefined ||
      link === true,
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

it('a dependency is one exact version', () => {
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(ranges.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('partner-sync has no script that npm runs when it is installed', () => {
  expect(Object.keys(manifest.scripts).filter((name) => /install|^prepare$/.test(name))).toEqual([]);
});
