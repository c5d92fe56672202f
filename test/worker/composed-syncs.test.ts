/** A worker runs for months while the files of its syncs are edited: what it no longer needs is closed. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
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
