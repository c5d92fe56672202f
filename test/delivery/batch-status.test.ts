/** What is read of the status of a batch, and how long it is asked for. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { EffortMeter } from '../../src/domain/run/effort.js';
import {
  isAllAccepted,
  isProcessed,
  platformIdOf,
  pollUntilProcessed,
  provenByCounters,
} from '../../src/delivery/upload/batch-status.js';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import { stubPlatform, success } from '../platform/stub-platform.js';
import { limitWithQueues } from './settling.js';

/** A status that says so much and no more: of how many records which outcome is counted, and what is listed. */
function said(
  progress: BatchStatus['progress'],
  { failures, pending }: { failures?: readonly string[]; pending?: readonly string[] } = {},
): BatchStatus {
  return {
    batchId: 'p1',
    progress,
    ...(failures !== undefined && { errors: { recordErrors: [...failures] } }),
    ...(pending !== undefined && { pendingResources: pending.map((id) => ({ resourceExternalId: id })) }),
  };
}

it.each([
  [null, null],
  ['p1', 'p1'],
  ['a/b', 'a/b'],
  ['..', null],
  ['', null],
])('asks for a batch only by an id that an address can contain: %j', (id, asked) => {
  expect(platformIdOf({ platformBatchId: id })).toBe(asked);
});

it.each([
  ['all are successful', said({ successfulRecords: 3 }), true],
  ['all are, and nothing is listed', said({ successfulRecords: 3 }, { failures: [], pending: [] }), true],
  ['some are not counted', said({ successfulRecords: 2 }), false],
  ['as many as were sent are, and one more is pending', said({ successfulRecords: 3, pendingRecords: 1 }), false],
  ['one more has failed', said({ successfulRecords: 3, failedRecords: 1 }), false],
  [
    'one more has failed, and one is pending',
    said({ successfulRecords: 3, failedRecords: 1, pendingRecords: 1 }),
    false,
  ],
  ['one is listed as failed', said({ successfulRecords: 3 }, { failures: ['a'] }), false],
  ['one is listed as pending', said({ successfulRecords: 3 }, { pending: ['a'] }), false],
  [
    'one is listed as failed, and one as pending',
    said({ successfulRecords: 3 }, { failures: ['a'], pending: ['b'] }),
    false,
  ],
  ['one is pending, and listed', said({ successfulRecords: 3, pendingRecords: 1 }, { pending: ['a'] }), false],
  ['only a summary of failures is there', { ...said({ successfulRecords: 3 }), errors: { summary: {} } }, true],
])('takes all three records for accepted without looking further, or does not, if %s', (_, status, expected) => {
  expect(isAllAccepted(status, 3)).toBe(expected);
});

it('counts failed records as processed when the others only wait for their parents', () => {
  const status = said({ successfulRecords: 1, failedRecords: 1, pendingRecords: 1 }, { pending: ['c'] });
  expect(isProcessed(status, 3, 1)).toBe(true);
});

it.each([
  ['no list is there', said({ successfulRecords: 2 }), ['a', 'b'], { agrees: true, outcomeOfUnlisted: 'accepted' }],
  [
    'there is only a summary of failures',
    { ...said({ successfulRecords: 2 }), errors: { summary: {} } },
    ['a', 'b'],
    { agrees: true, outcomeOfUnlisted: 'accepted' },
  ],
  [
    'another record than one of these is listed as pending',
    said({ successfulRecords: 1, pendingRecords: 1 }, { pending: ['x'] }),
    ['a', 'b'],
    { agrees: false, outcomeOfUnlisted: null, unlistedPending: 1 },
  ],
  [
    'one more is listed as pending than is counted',
    said({ successfulRecords: 1, pendingRecords: 1 }, { pending: ['a', 'x'] }),
    ['a', 'b'],
    { agrees: false, outcomeOfUnlisted: null, unlistedPending: 0 },
  ],
  [
    'fewer are listed as pending than are counted',
    said({ pendingRecords: 3 }, { pending: ['a'] }),
    ['a', 'b', 'c'],
    { agrees: false, outcomeOfUnlisted: null, unlistedPending: 2 },
  ],
])('draws from the counters what they prove, if %s', (_, status, ids, expected) => {
  expect(provenByCounters(status, ids, ids.length)).toMatchObject(expected);
});

it('takes unlisted pending records for settled once the counters have not moved in three polls, in the queue of their tenant', async () => {
  const counters = [
    { pendingRecords: 3 },
    { pendingRecords: 3 },
    { successfulRecords: 1, pendingRecords: 2 },
    { successfulRecords: 1, pendingRecords: 2 },
    { successfulRecords: 1, pendingRecords: 2 },
  ];
  const { client: platform, seen } = await stubPlatform(counters.map((progress) => success(said(progress))));
  const queues: string[] = [];
  const { signal } = new AbortController();
  const context = {
    deps: { platform },
    sync: { spec: { upload: { batchDeadline: 60 } }, requestLimit: limitWithQueues(queues) },
    effort: new EffortMeter(),
    signal,
  } as unknown as PartitionContext;

  const logger = new DefaultLogger('ERROR', () => undefined);
  const result = await new MockActivityEnvironment({}, { logger }).run(() =>
    pollUntilProcessed(context, { platformBatchId: 'p1', tenant: 'north', sent: 3 }),
  );

  expect(result).toMatchObject({ processed: true, status: { progress: { pendingRecords: 2 } } });
  expect(seen).toHaveLength(5);
  expect(queues).toEqual(Array(5).fill('north'));
});
