/** partner-sync in a project that has not installed the drivers of MySQL, SQLite and SQL Server. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DRIVERS } from '../../src/source/load-driver.js';
import { build } from '../pipeline/worker-process.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies' | 'peerDependenciesMeta',
  Record<string, unknown>
>;

let project: string;

/** The package's files are copied, so that modules are looked for in the project; its dependencies are linked. */
beforeAll(async () => {
  await build();
  project = mkdtempSync(join(tmpdir(), 'partner-sync-drivers-'));
  const modules = join(project, 'node_modules');
  for (const part of ['package.json', 'bin', 'dist', 'mappings'])
    cpSync(join(ROOT, part), join(modules, 'partner-sync', part), { recursive: true });
  for (const name of Object.keys(PACKAGE.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

function partnerSync(...args: readonly string[]): { code: number | null; said: string } {
  const mappings = join(project, 'node_modules/partner-sync/mappings');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(project, 'node_modules/partner-sync/bin/partner-sync.js'), ...args],
    {
      cwd: project,
      env: { SOURCE_URL: 'postgres://127.0.0.1:1/shop', PLATFORM_TENANT: 'demo-shop', PARTNER_SYNC_MAPPINGS: mappings },
      encoding: 'utf8',
    },
  );
  return { code: status, said: stdout + stderr };
}

it.each([
  ['mysql://reader@127.0.0.1:1/shop', 'MySQL and MariaDB', 'npm install mysql2@3'],
  ['mariadb://reader@127.0.0.1:1/shop', 'MySQL and MariaDB', 'npm install mysql2@3'],
  ['sqlite:shop.db', 'SQLite', 'npm install better-sqlite3@12'],
  ['sqlserver://reader@127.0.0.1:1/shop', 'SQL Server', 'npm install tedious@18'],
])('says which driver is missing for %s, and how to install it', (address, database, command) => {
  const { code, said } = partnerSync('init', 'shop', '--source', address, '--tenant', 'demo-shop');
  expect(said).toContain(
    `error driver_missing: the driver of ${database} is not installed; in the project that runs partner-sync: ${command}\n`,
  );
  expect(code).toBe(2);
});

it('needs no driver for anything else', () => {
  expect(partnerSync('check', 'online-retail', '--offline')).toMatchObject({ code: 0 });
  const { code, said } = partnerSync(
    'init',
    'shop',
    '--source',
    'postgres://127.0.0.1:1/shop',
    '--tenant',
    'demo-shop',
  );
  expect(said).toContain('error source_unreachable');
  expect(code).toBe(1);
});

it('names the versions that package.json declares, all of them optional', () => {
  const versions = Object.entries(DRIVERS).map(([name, { version }]) => [name, version]);
  expect(PACKAGE.peerDependencies).toEqual(Object.fromEntries(versions));
  expect(PACKAGE.peerDependenciesMeta).toEqual(
    Object.fromEntries(Object.keys(DRIVERS).map((name) => [name, { optional: true }])),
  );
});
