/** The simulation itself: it tells the same story again, and notices a bug that is planted in the code. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../pipeline/worker-process.js';
import type { SeedResult } from './world.js';

interface Bundling {
  readonly bundleSimulation: (file: string, plant?: readonly (readonly string[])[]) => Promise<void>;
}

const ROOT = new URL('../../', import.meta.url);
const FILE = fileURLToPath(new URL(`dist/simulation/test-${process.pid}.mjs`, ROOT));
const { bundleSimulation } = (await import(new URL('scripts/simulation/bundle.mjs', ROOT).href)) as Bundling;

function simulate(...seeds: number[]): SeedResult[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--no-deprecation', FILE], {
    input: seeds.join('\n'),
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  expect(status, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SeedResult);
}

beforeAll(async () => {
  // The simulation finds the files beside the code where the build has put them.
  await build();
  mkdirSync(fileURLToPath(new URL('dist/simulation', ROOT)), { recursive: true });
});
afterAll(() => rmSync(FILE, { force: true }));

it('tells the same story of a seed whatever was told before it', async () => {
  await bundleSimulation(FILE);
  const storyOf = ({ seed, hash, seconds, violations }: SeedResult) => ({ seed, hash, seconds, violations });

  const [first, second] = simulate(2, 15).map(storyOf);
  const [again] = simulate(15).map(storyOf);

  expect(first).toMatchObject({ seed: 2, violations: [] });
  expect(second).toEqual(again);
});

it('notices that records go to another tenant, and tells what has happened to one', async () => {
  await bundleSimulation(FILE, [
    [
      'src/delivery/upload/post-batch.ts',
      "tenant: batch.tenant,\n    // The intent's age",
      "tenant: ['north', 'south', 'west'].find((other) => other !== batch.tenant),\n    // The intent's age",
    ],
  ]);
  const [result] = simulate(1);
  expect(result!.violations[0]).toMatch(/^wrong tenant: (north|south|west)\/customer\/\d+ was sent /);
  const record = /customer\/\d+/.exec(result!.violations[0]!)![0];
  expect(result!.trace.filter((line) => line.includes(record)).join('\n')).toContain('VIOLATION wrong tenant');
});
