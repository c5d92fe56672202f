/** The example of docs/platform.md, run as a partner would run it: with the built package, against the sandbox. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../pipeline/worker-process.js';
import { createDatabase, startForTest, type TestDatabase } from '../sandbox/running-sandbox.js';
import { readPage, ROOT, sectionOf } from './pages.js';

// Inside the package, since `partner-sync` is found from there only.
const FOLDER = join(ROOT, '.partner-sync', 'client-example');
let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  await build();
  database = await createDatabase('client-example');
  sandbox = await startForTest(database);
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  await sandbox.close();
  await database.drop();
});

it('runs exactly as the page shows it', async () => {
  const code = /```js\n([\s\S]*?)```/.exec(sectionOf(readPage('docs/platform.md'), 'The client'))![1]!;
  const file = join(FOLDER, 'example.mjs');
  writeFileSync(file, code);
  const env = {
    ...process.env,
    PLATFORM_BASE_URL: sandbox.url,
    PLATFORM_TOKEN: sandbox.token,
    PLATFORM_TENANT: 'north',
  };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).toBe('1 stored\nGET /api/resources/{schemaDefinitionNameOrId}/{externalId}: 404\n');
  expect(stderr).toBe('');
});
