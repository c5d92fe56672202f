/** If all batches of a platform are odd in the same way, the log gets one line and not one per batch. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { expect, it } from 'vitest';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import { warnOnce } from '../../src/delivery/upload/batch-status.js';

const context = (runId: string, mapping: string) =>
  ({
    partition: { runId },
    sync: { spec: { name: 'shop' } },
    mapping: { spec: { name: mapping } },
  }) as unknown as PartitionContext;

it('warns once for each run, mapping and cause', async () => {
  const lines: LogEntry[] = [];
  const env = new MockActivityEnvironment({}, { logger: new DefaultLogger('WARN', (entry) => void lines.push(entry)) });

  await env.run(() => {
    for (let batch = 0; batch < 300; batch++) {
      warnOnce('batch_inconsistent', context('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_stuck', context('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_inconsistent', context('run-1', 'lines'), `b${batch}`, null);
    }
    warnOnce('batch_inconsistent', context('run-2', 'orders'), 'b0', null);
    return Promise.resolve();
  });

  expect(lines.map(({ meta }): unknown[] => [meta!['mapping'], meta!['code'], meta!['platformBatchId']])).toEqual([
    ['orders', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_stuck', 'b0'],
    ['lines', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_inconsistent', 'b0'],
  ]);
});
