/** A test that fails once the other one has started its server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';

it('fails', async () => {
  while (!existsSync(join(process.env['TMPDIR']!, 'started'))) await sleep(50);
  throw new Error('on purpose');
});
