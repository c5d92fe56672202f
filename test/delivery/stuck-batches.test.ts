/** Children of a batch that the platform did not complete in time: it may keep them until their parents come, whatever is sent since. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it } from 'vitest';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import { recoverPartition } from '../../src/delivery/upload/recover-partition.js';
import { batchOutcomes } from '../../src/delivery/upload/settle-batch.js';
import { EffortMeter } from '../../src/domain/run/effort.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim } = the;

/** Seconds: the deadline is over after the first poll, or only after the counters have been the same for some polls. */
const [SOON, LATE] = [0.01, 30];

const REFERS = { properties: { parentId: { $ref: 'customer' } } };

/** The platform says this of each batch, and stores no record. */
const contextOf = (
  partition: AcquiredPartition,
  progress: BatchStatus['progress'] | null,
  schema: object = REFERS,
  batchDeadline = SOON,
): PartitionContext =>
  ({
    deps: {
      ledger: the.ledger,
      platform: {
        findBatch: () => Promise.resolve(progress && { batchId: 'p1', progress, completedAt: null }),
        findResource: () => Promise.resolve(null),
      },
    },
    sync: {
      spec: { name: 'shop', upload: { inDoubtDelay: 60, batchDeadline }, mappings: [] },
      requestLimit: createRequestLimit(4),
    },
    partition,
    effort: new EffortMeter(),
    signal: new AbortController().signal,
    mapping: {
      mappingId: the.mappingId,
      referenceFields: new Set(),
      spec: { name: 'orders', options: { dependencyWaitTimeout: 600 }, schema: { name: 'order', schema }, parents: [] },
    },
  }) as unknown as PartitionContext;

const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR', () => undefined) }).run(work);

const PENDING = { totalRecords: 2, processedRecords: 0, successfulRecords: 0, pendingRecords: 2, failedRecords: 0 };
/** One was accepted, and then looks otherwise: its counters and what it stores contradict each other. */
const UNCLEAR = { totalRecords: 2, processedRecords: 1, successfulRecords: 1, pendingRecords: 1, failedRecords: 0 };
const OPEN = { totalRecords: 2, processedRecords: 0, successfulRecords: 0, pendingRecords: 0, failedRecords: 0 };

/** The kinds of outcome of a batch of two records, and whether they can be claimed afterwards, one as it is and one that has changed. */
async function settled(progress: BatchStatus['progress'] | null, schema?: object, deadline?: number) {
  const partition = await newPartition();
  const claimed = await claim(partition, [record('a', '1'), record('b', '1')]);
  const [batch] = claimed.batches;
  await the.ledger.batches.markSent(batch!, 'p1');
  const sent = { ...batch!, platformBatchId: 'p1', recorded: Promise.resolve() };
  const outcomes = await inActivity(() => batchOutcomes(contextOf(partition, progress, schema, deadline), sent));
  if (outcomes === 'all accepted') throw new Error('nothing was stored');
  const unknown = [record('a', '1'), record('b', '1')];
  const left = {
    sent: unknown.map((each) => the.sent(each, 'unknown')),
    waiting: unknown.map((each) => the.queued(each)),
  };
  await the.ledger.checkpoint(partition, await the.outcome(claimed, unknown, 'waiting', left));
  const { skipReasons } = await claim(await newPartition(), [record('a', '1'), record('b', '2')]);
  return { kinds: [...outcomes.values()].map(({ kind }) => kind), skipReasons };
}

it('are pending if the platform counts some of them as pending and lists none', async () => {
  expect((await settled(PENDING)).kinds).toEqual(['pending', 'pending']);
});

it.each([
  ['does not know the batch', null, SOON],
  ['has counted nothing yet', OPEN, SOON],
  ['contradicts itself', UNCLEAR, LATE],
] as const)(
  'are sent again as they are, and not with newer content, if the platform %s',
  async (_, progress, deadline) => {
    expect(await settled(progress, REFERS, deadline)).toEqual({
      kinds: ['unknown', 'unknown'],
      skipReasons: [undefined, 'contended'],
    });
  },
);

it.each([
  ['does not know the batch', null],
  ['counts them as pending', PENDING],
  ['has counted nothing yet', OPEN],
])('are sent again with any content if they refer to nothing, and the platform %s', async (_, progress) => {
  expect(await settled(progress, {})).toEqual({ kinds: ['unknown', 'unknown'], skipReasons: [undefined, undefined] });
});

it.each([
  ['does not know the batch', null],
  ['has counted nothing yet', OPEN],
])(
  'are sent again as they are, and not with newer content, by the next attempt if the platform %s',
  async (_, progress) => {
    const dead = await newPartition();
    const [batch] = (await claim(dead, [record('a', '1'), record('b', '1')])).batches;
    await the.ledger.batches.markSent(batch!, 'p1');

    const successor = await the.ledger.partitions.acquire(dead.id);
    await inActivity(() => recoverPartition(contextOf(successor, progress)));

    const { skipReasons } = await claim(await newPartition(), [record('a', '1'), record('b', '2')]);
    expect(skipReasons).toEqual([undefined, 'contended']);
  },
);
