/** The bundle of the workflows, which is built on one machine and runs on others. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { workflowBundle } from '../workflow-bundle.js';

it.each([false, true])('names its sources relative to the project, without their text (traced: %s)', async (traced) => {
  const code = readFileSync((await workflowBundle(traced)).codePath, 'utf8');
  const map = JSON.parse(Buffer.from(code.slice(code.lastIndexOf('base64,') + 7), 'base64').toString()) as {
    sources: string[];
  };
  expect(map.sources).toContain('workflows/run.ts');
  expect(map.sources).toContain('src/domain/errors.ts');
  expect(map.sources.filter((source) => source.startsWith('/'))).toEqual([]);
  expect(map).not.toHaveProperty('sourcesContent');
  expect(code).not.toContain(process.cwd());
});
