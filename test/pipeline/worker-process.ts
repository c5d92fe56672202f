/** The worker as an operator runs it: a process of its own, built, which a test may kill. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { oncePerRun } from '../once-per-run.js';
import type { Shop } from './shop.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The build. */
export const DIST = `${ROOT}dist`;
export const CLI = `${DIST}/src/cli/main.js`;

/** Builds dist where it is out of date. */
export async function build(): Promise<void> {
  await oncePerRun('build', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { cwd: ROOT });
    if (status !== 0) throw new Error(`the build failed: ${stdout.toString()}${stderr.toString()}`);
    return Promise.resolve('done');
  });
}

export interface WorkerProcess {
  readonly child: ChildProcess;
  /** What it wrote, for canaries and for failures of the test. */
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Resolves once the worker polls. */
export async function startWorkerProcess(
  shop: Shop,
  more: Record<string, string> = {},
  cli = CLI,
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [cli, 'worker'], {
    cwd: shop.folder,
    env: { PATH: process.env['PATH'] ?? '', ...shop.env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.on('exit', (code, signal) => resolve(signal ?? code ?? -1)),
  );
  endWithOwner(child);
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('worker ready')) resolve();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    void ended.then((how) => reject(new Error(`the worker ended (${how}): ${output}`)));
  });
  return { child, ended, output: () => output };
}
