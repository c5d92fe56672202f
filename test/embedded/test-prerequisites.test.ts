/** What `npm test` does if a program is missing that only tests need and that it cannot obtain. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../pipeline/worker-process.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
beforeAll(async () => {
  await build();
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-needs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `npm test` where nothing is on PATH, nothing in the cache, and no registry answers; vitest itself only shows its help. */
function npmTest(args: readonly string[], more: Record<string, string> = {}): { code: number | null; said: string } {
  const bare = { PATH: folder, HOME: folder, XDG_CACHE_HOME: folder, npm_config_registry: 'http://127.0.0.1:1/' };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/bootstrap.mjs', 'test', ...args, '--help'], {
    cwd: ROOT,
    env: { ...bare, ...more },
    encoding: 'utf8',
  });
  expect(stdout).toContain('Options:');
  return { code: status, said: stderr };
}

const LEFT_OUT =
  /^Left out: the tests with Chromium in (?:test\/\S+\.test\.ts, )+test\/web-ui\/web-ui\.test\.ts; .*To run them: .*CHROMIUM_PATH\.$/m;

it('leaves out tests whose programs cannot be obtained, and says which, why and what to do', () => {
  const { code, said } = npmTest([]);
  expect(said).toMatch(LEFT_OUT);
  expect(said).toContain('(apt-get: there is no apt-get here; npm: npm error code ECONNREFUSED)');
  expect(code).toBe(0);
});

it('fails if tests are left out in CI', () => {
  const { code, said } = npmTest([], { CI: 'true' });
  expect(said).toMatch(LEFT_OUT);
  expect(code).toBe(1);
});

it('searches for nothing that the selected tests do not use', () => {
  const { code, said } = npmTest(['test/mapping'], { CI: 'true' });
  expect(said).toBe('');
  expect(code).toBe(0);
});
