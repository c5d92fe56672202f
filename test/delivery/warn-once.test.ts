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

/** What is logged meanwhile. */
async function logged(work: () => void): Promise<LogEntry[]> {
  const lines: LogEntry[] = [];
  const env = new MockActivityEnvironment({}, { logger: new DefaultLogger('WARN', (entry) => void lines.push(entry)) });
  await env.run(() => Promise.resolve(work()));
  return lines;
}

it('warns once for each run, mapping and cause', async () => {
  const lines = await logged(() => {
    for (let batch = 0; batch < 300; batch++) {
      warnOnce('batch_inconsistent', context('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_stuck', context('run-1', 'orders'), `b${batch}`, null);
      warnOnce('batch_inconsistent', context('run-1', 'lines'), `b${batch}`, null);
    }
    warnOnce('batch_inconsistent', context('run-2', 'orders'), 'b0', null);
  });

  expect(lines.map(({ meta }): unknown[] => [meta!['mapping'], meta!['code'], meta!['platformBatchId']])).toEqual([
    ['orders', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_stuck', 'b0'],
    ['lines', 'batch_inconsistent', 'b0'],
    ['orders', 'batch_inconsistent', 'b0'],
  ]);
});

it('says whether the platform knows the batch, and what it counts', async () => {
  const progress = { successfulRecords: 1, failedRecords: 2, pendingRecords: 3 };
  const [unknown, known] = await logged(() => {
    warnOnce('batch_stuck', context('run-3', 'orders'), 'b1', null);
    warnOnce('batch_stuck', context('run-4', 'orders'), 'b2', { batchId: 'b2', progress });
  });

  expect(unknown!.meta).toMatchObject({ visible: false });
  expect(unknown!.meta).not.toHaveProperty('successfulRecords');
  expect(known!.meta).toMatchObject({ visible: true, ...progress });
});

it('remembers a thousand warnings at most, so that its memory is bounded', async () => {
  const warnOf = (run: string): void => warnOnce('batch_stuck', context(run, 'orders'), 'b1', null);

  const lines = await logged(() => {
    warnOf('first');
    for (let run = 1; run <= 1000; run++) warnOf(`other-${run}`);
    warnOf('first');
  });

  expect(lines).toHaveLength(1002);
});
