/** A test that is cut off while its server runs, and does not stop the server itself. Run by ../nothing-left.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { startPostgres } from '../../../src/embedded/postgres-server.js';

it('waits forever with its server', async () => {
  const folder = process.env['TMPDIR']!;
  await startPostgres({ folder: join(folder, 'of-its-own'), log: console.error });
  writeFileSync(join(folder, 'started'), '');
  await new Promise(() => undefined);
});
