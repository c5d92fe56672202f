/** No process outlives the one that started it, even if that is killed: servers of `npm run dev` and of the tests. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What of this package a clone of it needs in order to start its stack. */
const CLONED = [
  'activities',
  'bin',
  'dist',
  'mappings',
  'scripts',
  'src',
  'workflows',
  'package-lock.json',
  'package.json',
  'tsconfig.build.json',
  'tsconfig.json',
];

/** Beside the other test files, a start that takes seconds alone can take more than a minute. */
const STARTS_WITHIN_MS = 180_000;

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

let folder: string;
/** Everything that was seen to belong to what a test has started. */
let seen: Map<number, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-left-'));
  chmodSync(folder, 0o755);
  seen = new Map();
});
afterEach(() => {
  for (const { pid } of left()) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function processes(): Running[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return [...stdout.matchAll(/^ *(\d+) +(\d+) +[^Z ]+ +(.*)$/gm)].map(([, pid, parent, args]) => ({
    pid: Number(pid),
    parent: Number(parent),
    args: args!,
  }));
}

/** Looks at what runs: what has the starter above it, or names the test's folder. */
function look(starter: number): string[] {
  const all = processes();
  const belongs = ({ pid, parent, args }: Running): boolean =>
    pid === starter || args.includes(folder) || all.some((above) => above.pid === parent && belongs(above));
  for (const one of all.filter(belongs)) seen.set(one.pid, one.args);
  return [...seen.values()];
}

/** The number of a process that is gone may be another's. */
const left = (): Running[] => processes().filter(({ pid, args }) => seen.get(pid) === args || args.includes(folder));

const none = (): Promise<unknown> => eventually('that nothing of it runs', () => Promise.resolve(left().length === 0));

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
}

/** Resolves once all of `words` are in the command lines of what it has started. */
async function start(
  command: string,
  args: readonly string[],
  cwd: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const env = { ...process.env, TMPDIR: folder, TEMPORAL_ADDRESS: '', ...variables };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const all = (lines: string[]): boolean => words.every((word) => lines.some((line) => line.includes(word)));
  await eventually(
    `that it runs: ${words.join(', ')}`,
    () => Promise.resolve(all(look(child.pid!))),
    STARTS_WITHIN_MS / 1000,
  );
  return { child, output: () => output };
}

/** Resolves once the output has these words. What it says instead is in the error. */
async function said({ child, output }: Started, words: string): Promise<void> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (!output().includes(words)) {
    if (child.exitCode !== null || Date.now() > deadline) expect(output()).toContain(words);
    await sleep(50);
  }
}

it('stops the stack of npm run dev if npm or the process that runs the stack is killed', async () => {
  await build();
  for (const name of CLONED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const dev = async (): Promise<Started> => {
    seen.clear();
    const parts = [
      'bootstrap.mjs dev',
      'partner-sync.js dev',
      'main.js worker',
      'main.js sandbox',
      'postgres -D',
      'start-dev',
    ];
    const started = await start('npm', ['run', 'dev'], folder, parts);
    await said(started, 'The stack is up');
    return started;
  };

  const { child: npm, output } = await dev();
  npm.kill('SIGKILL');
  await none();
  // Those whom nobody has killed have stopped in order.
  expect(output()).toContain('Draining the worker');

  await dev();
  process.kill([...seen].find(([, args]) => args.includes('partner-sync.js dev'))![0], 'SIGKILL');
  await none();
});

it('ends the console if the npx that has started it is ended', async () => {
  await build();
  const args = ['--prefix', ROOT, 'exec', '--', 'partner-sync', 'console', '--port', '0'];
  const env = { PARTNER_SYNC_STATE_URL: 'postgres://nobody@127.0.0.1:1/nothing', PLATFORM_TOKEN: 'none' };
  const started = await start('npm', args, folder, ['partner-sync console'], env);
  await said(started, 'console ready');
  started.child.kill('SIGTERM');
  await none();
});

it.each([
  { how: 'ends at its first failure', bail: ['--bail', '1'], killed: false },
  { how: 'is killed', bail: [], killed: true },
])('leaves no server of the tests behind if the test run $how', async ({ bail, killed }) => {
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '-c', 'test/embedded/cut-off/vitest.config.ts'];
  const words = ['temporal server', `${folder}/of-its-own`];
  const { child } = await start(process.execPath, [...vitest, ...bail], ROOT, words);
  const ended = once(child, 'exit');
  if (killed) child.kill('SIGKILL');

  expect((await ended)[0]).toBe(killed ? null : 1);
  await none();
});
