/** The options that Node needs on its command line are set wherever the program is started. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ENGINE_FLAGS, ENGINE_OPTIONS } from '../../src/config/engine-flags.js';

const root = new URL('../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

it('are in the first line of the command', () => {
  expect(text('bin/partner-sync.js').split('\n')[0]).toBe(`#!/usr/bin/env -S node ${ENGINE_OPTIONS.join(' ')}`);
});

it('are in the image', () => {
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(text('Dockerfile'))![1]!;
  expect(JSON.parse(entrypoint)).toEqual(['node', ...ENGINE_OPTIONS, 'bin/partner-sync.js']);
});

it('limit the young generation of the main thread only', async () => {
  const young = fileURLToPath(new URL('young-generation.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...ENGINE_OPTIONS, young, ...ENGINE_FLAGS]);
  const { main, inThread } = JSON.parse(stdout) as { main: number; inThread: number };
  expect(main).toBeGreaterThan(16 * 2 ** 20);
  expect(main).toBeLessThanOrEqual(32 * 2 ** 20);
  expect(inThread).toBeGreaterThan(8 * 2 ** 20);
  expect(inThread).toBeLessThan(32 * 2 ** 20);
});

it('let the command be started by its name', async () => {
  const bin = fileURLToPath(new URL('bin/partner-sync.js', root));
  const { version } = JSON.parse(text('package.json')) as { version: string };
  expect((await promisify(execFile)(bin, ['--version'])).stdout.split('\n')[0]).toBe(version);
});
