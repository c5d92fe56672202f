/** A worker runs for months while the files of its syncs are edited: what it no longer needs is closed. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { openComposedSyncs } from '../../src/composition/open-syncs.js';
import { keptFiles } from '../../src/mapping/kept-files.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { errorOf } from '../platform/stub-platform.js';
import { compose } from '../../src/composition/compose.js';
import { milliseconds } from '../../src/domain/timeouts.js';
import type { Reader } from '../../src/reading/reader.js';
import { ENV, syncFolder } from '../mapping/sync-on-disk.js';

afterEach(() => void vi.useRealTimers());

it('closes the source of a sync whose files were changed, once no activity can be using it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const folder = syncFolder();
  const closed: number[] = [];
  let opened = 0;
  const read = (): Reader => {
    const id = ++opened;
    return { source: { close: () => Promise.resolve(void closed.push(id)) } } as unknown as Reader;
  };
  const parts = compose({ ...ENV, PARTNER_SYNC_MAPPINGS: folder }, { read });

  await parts.openSync('shop');
  await parts.openSync('shop');
  appendFileSync(join(folder, 'shop', 'sync.yaml'), 'upload: { requestsAtOnce: 2 }\n');
  await parts.openSync('shop');
  expect([opened, closed]).toEqual([2, []]);

  await vi.advanceTimersByTimeAsync(milliseconds('longActivityAttempt') - 1);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toEqual([1]);

  await parts.close();
  expect(closed).toEqual([1, 2]);
});

/** The file of a transform that nothing calls, whose code is another one for each `mark`. */
const transform = (mark: string): string =>
  `export default { gives: 'text', examples: [{ in: 'a', out: 'a' }], apply: (value) => value }; // ${mark}\n`;

it('opens a sync for a run only with the code of transforms that the run began with', async () => {
  const files = (mark: string) => ({ 'same.transform.js': transform(mark) });
  const there = await loadSync(syncFolder(files('where the run began')), 'shop', ENV);
  // Through the ledger, and to a process that has not loaded the code.
  const kept = JSON.parse(
    JSON.stringify(keptFiles(there.files)).replaceAll(there.files.transforms![0]!.hash, '0'.repeat(16)),
  ) as typeof there.files;
  const syncs = openComposedSyncs({
    env: ENV,
    mappingsFolder: () => Promise.resolve(syncFolder(files('here'))),
    filesOfRuns: () =>
      Promise.resolve({ ofRun: () => Promise.resolve({ version: there.spec.version, files: kept, platform: null }) }),
    compose: () => Promise.reject(new Error('it was opened')),
  });

  const error = await errorOf(syncs.open('shop', '1'));

  expect(error).toMatchObject({ code: 'config_invalid', details: { onAnotherWorker: true } });
  expect(error.message).toContain('shop/same.transform.js: the run began with other code of this transform');
});
