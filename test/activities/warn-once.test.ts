/** A platform whose batches are all odd in the same way is worth one line in the log, not one a batch. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { expect, it } from 'vitest';
import type { UploadScope } from '../../activities/upload-batch.js';
import { warnOnce } from '../../activities/warn-once.js';

const scope = (runId: string, mapping: string) =>
  ({
    range: { runId },
    sync: { spec: { name: 'shop' } },
    mapping: { spec: { name: mapping } },
  }) as unknown as UploadScope;

it('warns once for each run, mapping and cause', async () => {
  const lines: LogEntry[] = [];
  const env = new MockActivityEnvironment({}, { logger: new DefaultLogger('WARN', (entry) => void lines.push(entry)) });

  await env.run(() => {
    for (let batch = 0; batch < 300; batch++) {
      warnOnce('batch_inconsistent', scope('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_stuck', scope('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_inconsistent', scope('run-1', 'lines'), `b${batch}`, null);
    }
    warnOnce('batch_inconsistent', scope('run-2', 'orders'), 'b0', null);
    return Promise.resolve();
  });

  expect(lines.map(({ meta }): unknown[] => [meta!['mapping'], meta!['code'], meta!['platformBatchId']])).toEqual([
    ['orders', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_stuck', 'b0'],
    ['lines', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_inconsistent', 'b0'],
  ]);
});
