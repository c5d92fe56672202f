/** The reference that TypeDoc makes of what the package exports. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './pages.js';

it('describes every exported name, and links only what is there', async () => {
  const typedoc = join(ROOT, 'node_modules/typedoc/bin/typedoc');
  const told = await promisify(execFile)(process.execPath, [typedoc, '--emit', 'none', '--logLevel', 'Warn'], {
    cwd: ROOT,
  }).then(
    ({ stdout, stderr }) => stdout + stderr,
    (failed: { stdout: string; stderr: string }) => failed.stdout + failed.stderr,
  );

  expect(told).toBe('');
});
