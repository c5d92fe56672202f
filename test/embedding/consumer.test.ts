/** The programs of docs/embedding.md and the transform of docs/mapping.md, in a project in which the package is installed. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { installedProject, type InstalledProject } from '../cli/installed-project.js';
import { readPage, ROOT } from '../docs/pages.js';
import { fill, openShop, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build } from '../pipeline/worker-process.js';

const run = promisify(execFile);
let project: InstalledProject;
let shop: Shop;
const inProject = (path: string): string => join(project.folder, path);

/** Blocks of code whose first line names their file. */
const programs = ['docs/embedding.md', 'docs/mapping.md'].flatMap((page) =>
  [...readPage(page).text.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(
    ([, file, code]) => [file!, code!] as const,
  ),
);

const compilerOptions = { target: 'ES2022', strict: true, types: ['node'], skipLibCheck: true };
const include = ['src', 'test', 'mappings'];

beforeAll(async () => {
  await build();
  project = installedProject();
  for (const name of ['typescript', 'vitest', '@types'])
    symlinkSync(join(ROOT, 'node_modules', name), inProject(`node_modules/${name}`));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(inProject(file)), { recursive: true });
    writeFileSync(inProject(file), text);
  };
  write('package.json', JSON.stringify({ name: 'consumer', type: 'module' }));
  write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, module: 'node16' }, include }));
  const bundler = { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler', noEmit: true };
  write('tsconfig.bundler.json', JSON.stringify({ compilerOptions: bundler, include }));
  write('vitest.config.ts', 'export default {};\n');
  for (const [file, code] of programs) write(file, code);
  for (const [file, text] of Object.entries(filesOf({})))
    write(
      `mappings/shop/${file}`,
      text.replace('  name: name\n', '  name: { column: name, transforms: [{ custom: shortName }] }\n'),
    );
  shop = await openShop();
  await fill(shop, 30);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (99, repeat('x', 50), 'A')`);
});
afterAll(async () => {
  await shop.close();
  project.remove();
});

/** What the compiler reports; empty if nothing is wrong. */
const compiled = (...args: string[]): Promise<string> =>
  run(process.execPath, [inProject('node_modules/typescript/bin/tsc'), ...args], { cwd: project.folder }).then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );

it('has all programs of the pages', () => {
  expect(programs.map(([file]) => file)).toEqual([
    'src/worker.ts',
    'src/run.ts',
    'test/customers.test.ts',
    'src/find-customer.ts',
    'mappings/shop/shortName.transform.ts',
  ]);
});

describe('a consumer', () => {
  it.each([
    ['node16, and its files are written', []],
    ['bundler', ['-p', 'tsconfig.bundler.json']],
  ])('compiles with moduleResolution %s', async (_, args) => {
    expect(await compiled(...args)).toBe('');
  });

  it('tests its mappings with vitest', async () => {
    const vitest = inProject('node_modules/vitest/vitest.mjs');
    const args = ['run', '--config', 'vitest.config.ts', '--reporter', 'json', 'test/customers.test.ts'];

    const { stdout } = await run(process.execPath, [vitest, ...args], {
      cwd: project.folder,
      env: { PATH: process.env['PATH'] },
    });

    expect(JSON.parse(stdout)).toMatchObject({ numPassedTests: 2, numFailedTests: 0 });
  });

  it('loads neither drivers nor Temporal with what it imports', async () => {
    const code = `
      await import('partner-sync'); await import('partner-sync/testing'); await import('partner-sync/transforms');
      const { createRequire } = await import('node:module');
      console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;

    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: project.folder });

    const loaded = JSON.parse(stdout) as string[];
    expect(loaded.some((file) => file.includes('/ajv/'))).toBe(true);
    expect(loaded.filter((file) => /@temporalio|\/(knex|pg|pino|mysql2|tedious)\//.test(file))).toEqual([]);
  });

  it('runs a worker and a run, whose rows go through its transform, and reads a record', async () => {
    const env = { PATH: process.env['PATH'], ...shop.env, PARTNER_SYNC_MAPPINGS: inProject('mappings') };
    const worker = spawn(process.execPath, ['src/worker.js'], {
      cwd: project.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithOwner(worker);
    let written = '';
    for (const stream of [worker.stdout, worker.stderr])
      stream.on('data', (chunk: Buffer) => (written += chunk.toString()));
    const ended = new Promise((resolve) => worker.on('exit', (code, signal) => resolve(code ?? signal)));

    const started = await run(process.execPath, ['src/run.js'], { cwd: project.folder, env });
    const found = await run(process.execPath, ['src/find-customer.js'], { cwd: project.folder, env });
    worker.kill('SIGTERM');

    expect(started).toEqual({ stdout: 'complete_with_dead_letters: 90 accepted, 1 dead-lettered\n', stderr: '' });
    expect(found.stdout).toBe('Customer 7.\n');
    expect(await ended).toBe(0);
    expect(written).toBe('');
    expect(await shop.state.query('SELECT pointer, rule, reason FROM partner_sync.dead_letters')).toEqual([
      {
        pointer: '/name',
        rule: 'transform: shortName',
        reason: 'the first name is longer than the option "longest" allows',
      },
    ]);
  });

  it('gives up workers that have not run, and leaves the signals of the process alone', async () => {
    const code = `
      import { createWorker } from 'partner-sync';
      const codes = [];
      for (const env of [{}, { PARTNER_SYNC_MAPPINGS: 'nowhere' }, { ...process.env, TEMPORAL_ADDRESS: '127.0.0.1:1' }])
        await createWorker({ env }).catch((error) => codes.push(error.code));
      const worker = await createWorker();
      const signals = process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
      await worker.shutdown();
      await worker.shutdown();
      console.log(codes.join(' '), worker.taskQueue, signals);`;
    const env = { PATH: process.env['PATH'], ...shop.env, PARTNER_SYNC_MAPPINGS: inProject('mappings') };

    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: project.folder,
      env,
    });

    expect(stdout).toBe(`config_invalid config_invalid config_invalid ${shop.taskQueue} 0\n`);
    expect(stderr).toBe('');
  });
});
