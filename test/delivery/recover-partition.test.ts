/**
 * Recovery of a batch whose POST may still be in flight: until the platform must have finished with it, its records are sent again with
 * the same content only. Time passes only in the ledger; polls do not pause.
 */
import { expect, it, vi } from 'vitest';
import { EffortMeter } from '../../src/domain/run/effort.js';
import { recoverPartition } from '../../src/delivery/upload/recover-partition.js';
import { pollBatch } from '../../src/delivery/pending/poll-batch.js';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const clock = vi.hoisted(() => ({ pass: (_ms: number): Promise<void> => Promise.resolve() }));
vi.mock('node:timers/promises', () => ({ setTimeout: (ms: number) => clock.pass(ms) }));

const the = ledgerForTests();
const { newPartition, claim } = the;

/** Seconds: long beside what the test takes. */
const DELAY = 600;
/** A POST begins within half a delay of its intent, ends half a delay later, and the platform takes up to a whole one. */
const LONGEST = 2 * DELAY;

const later = (seconds: number) =>
  the.database.query(`UPDATE partner_sync.batches SET intended_at = intended_at - $1 * interval '1 second'`, [seconds]);

/** Children, and the seconds for which the platform keeps them. */
const ORDERS = { properties: { customerId: { $ref: 'customer' } } };
const KEPT = 60;

const contextOf = (partition: AcquiredPartition, platform: object = {}, schema: object = {}): PartitionContext =>
  ({
    deps: { ledger: the.ledger, platform },
    sync: { spec: { upload: { inDoubtDelay: DELAY, batchDeadline: 60 } }, requestLimit: createRequestLimit(4) },
    partition,
    effort: new EffortMeter(),
    signal: new AbortController().signal,
    mapping: {
      mappingId: the.mappingId,
      spec: { name: 'customers', options: { dependencyWaitTimeout: KEPT }, schema: { schema } },
    },
  }) as unknown as PartitionContext;

/** A batch that an attempt intended and never heard of, found so many seconds later by its successor. */
async function left(foundAfter: number) {
  const dead = await newPartition();
  const { batches } = await claim(dead, [record('a', '1')]);
  await later(foundAfter);
  return { batch: batches[0]!, successor: await the.ledger.partitions.acquire(dead.id) };
}

it.each([0, 0.25, 0.5, 1, 1.5, 1.9])(
  'sends the same content again at once, and other content once the platform must have finished, if found after %d delays',
  async (delays) => {
    const { successor } = await left(delays * DELAY);

    await recoverPartition(contextOf(successor));

    const { skipReasons } = await claim(await newPartition(), [record('a', '2')]);
    expect(skipReasons).toEqual(['contended']);
    await the.database.query(
      `UPDATE partner_sync.doubts SET until = until - $1 * interval '1 second' WHERE mapping_id = $2`,
      [LONGEST - delays * DELAY - 30, the.mappingId],
    );
    expect((await claim(await newPartition(), [record('a', '2')])).skipReasons).toEqual(['contended']);
    expect((await claim(await newPartition(), [record('a', '1')])).skipReasons).toEqual([undefined]);
  },
);

it.each([2, 3])('sends any content at once of what a dead attempt sent %d delays ago', async (delays) => {
  const { successor } = await left(delays * DELAY);
  await recoverPartition(contextOf(successor));
  expect((await claim(await newPartition(), [record('a', '2')])).skipReasons).toEqual([undefined]);
});

/** A child whose POST nobody has heard of, as its successor has recovered it. */
async function childInDoubt(): Promise<PartitionContext> {
  const { successor } = await left(LONGEST);
  clock.pass = () => Promise.resolve();
  const context = contextOf(successor, {}, ORDERS);
  await recoverPartition(context);
  return context;
}

const waitingEntries = () =>
  the.database.query<{ batch: boolean; read_again: boolean }>(
    'SELECT batch_id IS NOT NULL AS batch, read_again FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );

it('does not send newer content of a child while the platform may still be keeping what is in doubt', async () => {
  const { deps, ...context } = await childInDoubt();
  const reader = await newPartition();
  expect((await claim(reader, [record('a', '2')])).skipReasons).toEqual(['pending']);

  const poll = async () => {
    for (const batch of await deps.ledger.batches.withPending(the.mappingId))
      await pollBatch({ deps, ...context }, batch);
  };
  await poll();
  expect(await waitingEntries()).toEqual([{ batch: true, read_again: true }]);
  await the.database.query(`UPDATE partner_sync.waiting SET due_at = now() WHERE mapping_id = $1`, [the.mappingId]);
  await poll();

  // Its row is known since it was read, so it is sent as soon as it is due.
  expect(await waitingEntries()).toEqual([{ batch: false, read_again: false }]);
  expect(await deps.ledger.batches.withPending(the.mappingId)).toEqual([]);
  expect((await claim(reader, [record('a', '2')])).skipReasons).toEqual([undefined]);
});

it('sends a child at once that is as it was when the batch in doubt was sent', async () => {
  const { deps, ...context } = await childInDoubt();
  const reader = await newPartition();
  const readSeqs = await the.reading();
  const same = record('a', '1');
  const claimed = await claim(reader, [same], readSeqs);
  expect(claimed.skipReasons).toEqual([undefined]);

  await the.ledger.checkpoint(reader, await the.outcome(claimed, [same], 'accepted', { readSeqs }));

  expect(await waitingEntries()).toEqual([]);
  for (const batch of await deps.ledger.batches.withPending(the.mappingId))
    await pollBatch({ deps, ...context }, batch);
  expect(await deps.ledger.batches.withPending(the.mappingId)).toEqual([]);
  // What the platform has accepted since is not in doubt.
  expect((await claim(await newPartition(), [same])).skipReasons).toEqual(['unchanged']);
});

it('takes each child for pending if the platform counts some as pending and lists none', async () => {
  const dead = await newPartition();
  const [batch] = (await claim(dead, [record('a', '1'), record('b', '1')])).batches;
  await the.ledger.batches.markSent(batch!, 'platform-1');
  const progress = { totalRecords: 2, processedRecords: 1, successfulRecords: 1, pendingRecords: 1, failedRecords: 0 };
  const platform = { findBatch: () => Promise.resolve({ batchId: 'platform-1', progress, completedAt: null }) };

  await recoverPartition(contextOf(await the.ledger.partitions.acquire(dead.id), platform, ORDERS));

  expect((await claim(await newPartition(), [record('a', '2'), record('b', '1')])).skipReasons).toEqual([
    'pending',
    'pending',
  ]);
});

it('leaves a batch alone that another partition has recovered meanwhile', async () => {
  const dead = await newPartition();
  const [batch] = (await claim(dead, [record('a', '1')])).batches;
  await the.ledger.batches.markSent(batch!, 'platform-1');
  await the.ledger.runs.end(dead.runId, 'failed');
  const [slow, quick] = [await newPartition(), await newPartition()];
  const progress = { totalRecords: 1, processedRecords: 1, successfulRecords: 1, pendingRecords: 0, failedRecords: 0 };
  const done = { batchId: 'platform-1', progress, completedAt: '2026-01-01T00:00:00Z' };
  const failed = { ...done, progress: { ...progress, successfulRecords: 0, failedRecords: 1 } };
  clock.pass = () => Promise.resolve();
  const other = { findBatch: () => Promise.resolve(done) };
  const platform = {
    async findBatch() {
      await recoverPartition(contextOf(quick, other));
      return failed;
    },
  };

  await recoverPartition(contextOf(slow, platform));

  // As the quick one has found out.
  expect((await claim(await newPartition(), [record('a', '1')])).skipReasons).toEqual(['unchanged']);
});

it('sends records again whose outcome the batch status does not prove, and polls pending ones', async () => {
  const dead = await newPartition();
  const rows = ['a', 'b', 'c', 'd'].map((id) => record(id, '1'));
  const [batch] = (await claim(dead, rows)).batches;
  await the.ledger.batches.markSent(batch!, 'platform-1');
  const pending = { resourceExternalId: 'b', missingDependencies: [], expiresAt: '2026-01-02T00:00:00Z' };
  const status = {
    batchId: 'platform-1',
    // One of two failures names no record.
    progress: { totalRecords: 4, processedRecords: 3, successfulRecords: 1, pendingRecords: 1, failedRecords: 2 },
    completedAt: null,
    errors: { recordErrors: ['externalId "a": too long', 'too long'] },
    pendingResources: [pending],
  };

  await recoverPartition(
    contextOf(await the.ledger.partitions.acquire(dead.id), { findBatch: () => Promise.resolve(status) }),
  );

  expect((await claim(await newPartition(), rows)).skipReasons).toEqual([undefined, 'pending', undefined, undefined]);
  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);
});

it('leaves nothing under way when it fails', async () => {
  const dead = await newPartition();
  const [failing] = (await claim(dead, [record('a', '1')])).batches;
  const [slow] = (await claim(dead, [record('b', '1')])).batches;
  await the.ledger.batches.markSent(failing!, 'failing');
  await the.ledger.batches.markSent(slow!, 'slow');
  const progress = { totalRecords: 1, processedRecords: 1, successfulRecords: 1, pendingRecords: 0, failedRecords: 0 };
  const platform = {
    async findBatch(batchId: string) {
      if (batchId === 'failing') throw new Error('the platform is gone');
      // Later than the failure, and than whoever waits for that alone.
      for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
      return { batchId, progress, completedAt: '2026-01-01T00:00:00Z' };
    },
  };
  clock.pass = () => Promise.resolve();
  const successor = await the.ledger.partitions.acquire(dead.id);

  await expect(recoverPartition(contextOf(successor, platform))).rejects.toThrow('the platform is gone');

  const left = await the.ledger.batches.takeOverLeftBehind(successor);
  expect(left.map(({ platformBatchId }) => platformBatchId)).toEqual(['failing']);
});
