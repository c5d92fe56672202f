/**
 * Tests the package as a user gets it (`npm run test:package`): packs it, installs it into an empty folder with an npm
 * cache of its own, and runs its commands there, up to the demo's end. Plain Node, no dependency. dist must be built.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCli } from './stack/npm-cli.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What may be installed beside Temporal's SDK and what it brings, in bytes on disk. */
const LARGEST = 60 * 1024 * 1024;
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const home = mkdtempSync(join(tmpdir(), 'partner-sync-package-'));
// PostgreSQL runs as another account under root, and must be able to enter.
chmodSync(home, 0o755);
// npm hands its own settings on to what it runs, and those of the clone are not the user's.
const inherited = Object.entries(process.env).filter(
  ([name]) => !/^(npm_|TEMPORAL_|PARTNER_SYNC_|PLATFORM_)/.test(name),
);
const env = { ...Object.fromEntries(inherited), npm_config_cache: join(home, 'cache') };

try {
  const tarball = join(
    home,
    run('pack', ROOT, [npmCli(), 'pack', '--ignore-scripts', '--pack-destination', home]).trim(),
  );
  lint(tarball);
  // Measured in the same way, so that only what is ours counts.
  const sdk = Object.entries(dependencies).filter(([name]) => name.startsWith('@temporalio/'));
  const without = install(
    'temporal',
    sdk.map(([name, version]) => `${name}@${version}`),
  );
  const ours = install('project', [tarball]);
  const size = ours.size - without.size;
  console.log(`beside Temporal's SDK: ${Math.round(size / 1024 / 1024)} MB`);
  if (size > LARGEST) throw new Error(`more than ${LARGEST / 1024 / 1024} MB`);
  const warnings = ours.warnings.filter((line) => !without.warnings.includes(line));
  if (warnings.length > 0) throw new Error(`npm warns of more than Temporal's SDK brings:\n${warnings.join('\n')}`);
  command(['--version']);
  if (!command(['--help']).includes('npx partner-sync demo')) throw new Error('--help names no first step');
  if (!command(['demo', '--install']).includes('0 differences')) throw new Error('the demo found differences');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** What Node, bundlers and TypeScript would stumble over. The package is for ES modules only. */
function lint(tarball) {
  run('publint', ROOT, ['node_modules/publint/src/cli.js', '--strict', '--pack', 'false']);
  const types = 'node_modules/@arethetypeswrong/cli/dist/index.js';
  run('arethetypeswrong', ROOT, [types, tarball, '--profile', 'esm-only']);
}

/** Installs the packages into an empty folder; returns their size in bytes on disk, and npm's warnings. */
function install(name, packages) {
  const folder = join(home, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const { status, stderr } = node(folder, [npmCli(), 'install', '--no-audit', '--no-fund', ...packages]);
  if (status !== 0) throw new Error(`npm install failed:\n${stderr}`);
  // The first line of those about install scripts counts them.
  const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn') && !/\d+ packages have/.test(line));
  return { size: sizeOf(join(folder, 'node_modules')), warnings };
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true }).reduce(
    (sum, name) => sum + lstatSync(join(folder, name)).blocks * 512,
    0,
  );
}

/** Runs `npx partner-sync` in the user's project and returns what it printed. */
function command(args) {
  return run(`partner-sync ${args.join(' ')}`, join(home, 'project'), [
    npmCli(),
    'exec',
    '--no',
    '--',
    'partner-sync',
    ...args,
  ]);
}

function run(title, cwd, args) {
  const started = Date.now();
  const { status, stdout, stderr } = node(cwd, args);
  if (status !== 0) throw new Error(`${title} failed with exit code ${status}:\n${stdout}${stderr}`);
  console.log(`ok  ${title} (${Math.round((Date.now() - started) / 1000)} s)`);
  return stdout;
}

function node(cwd, args) {
  return spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
