/** Whatever comes instead of an answer, no record counts as accepted, none is lost, and none is sent twice at a time. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { EffortMeter } from '../../src/domain/run/effort.js';
import { NO_METERS } from '../../src/domain/monitoring/meters.js';
import { EarlierChunks, type PartitionContext } from '../../src/delivery/partition-context.js';
import { recoverPartition } from '../../src/delivery/upload/recover-partition.js';
import { settleBatch } from '../../src/delivery/upload/settle-batch.js';
import { UnsentBatches } from '../../src/delivery/upload/unsent-batches.js';
import type { SentBatch } from '../../src/delivery/upload/post-batch.js';
import { uploadBatch } from '../../src/delivery/upload/upload-batch.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import {
  BAD_ACCEPTANCES,
  BAD_STATUSES,
  FAILURES,
  INCOMPLETE,
  NOT_JSON,
  NOT_THE_ENVELOPE,
  TERSE,
  UNASKABLE,
  UNPROVEN,
  type BadResponse,
} from '../platform/corpus/bad-responses.js';
import { answer, BATCH, DONE, errorOf, stubPlatform, type Answer } from '../platform/stub-platform.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim } = the;

/** Seconds: longer than a request, whose share of it is its time limit. */
const DELAY = 1;
const RECORD = record('a', '1');

/** `requestTimeout`: milliseconds, few where the answer never comes. */
async function contextOf(
  partition: AcquiredPartition,
  answers: readonly Answer[],
  requestTimeout = 60_000,
): Promise<PartitionContext> {
  const limits = { requestTimeout, retryBudget: 0, maxResponseBytes: 250_000 };
  const { client: platform } = await stubPlatform(answers, limits);
  const attempt = new AbortController();
  const upload = { inDoubtDelay: DELAY, batchDeadline: 60 };
  const schema = { name: 'customer', schema: { type: 'object', properties: {} } };
  const options = { onConflict: 'upsert', ignoreUnknownFields: false, dependencyWaitTimeout: 60 };
  return {
    deps: { ledger: the.ledger, platform },
    sync: {
      spec: { name: 'shop', upload, mappings: [] },
      requestLimit: createRequestLimit(4),
      // As if it were cancelled after the first answer: what it leaves behind is to be looked at.
      onRetry: () => attempt.abort(new Error('cancelled')),
    },
    mapping: {
      spec: { name: 'customers', schema, options },
      referenceFields: new Set(),
      meter: NO_METERS.mapping(the.mappingId, 'shop', 'customers'),
    },
    partition,
    earlierChunks: new EarlierChunks(),
    effort: new EffortMeter(),
    signal: attempt.signal,
  } as unknown as PartitionContext;
}

const quietly = <T>(work: () => Promise<T>): Promise<T> =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR', () => undefined) }).run(work);

/** Why the record of another run is not sent now; undefined if it is sent. */
const whySkipped = async () => (await claim(await newPartition(), [RECORD])).skipReasons[0];

const first = <T>(corpus: Readonly<Record<string, readonly [BadResponse, ...T[]]>>): [string, BadResponse][] =>
  Object.entries(corpus).map(([what, [response]]) => [what, response]);

const VALID_STATUS = JSON.stringify({ success: true, data: BATCH });
const VALID_ACCEPTANCE = JSON.stringify({ success: true, data: { batchId: 'b1', recordCount: 1 } });
const NOT_FOUND = answer(404, { success: false, message: 'there is no such thing' });
const EVERYWHERE = [...Object.entries(INCOMPLETE), ...first(NOT_THE_ENVELOPE)];

describe('an upload is left in doubt after', () => {
  it.each([...EVERYWHERE, ...first(NOT_JSON), ...first(BAD_ACCEPTANCES), ...Object.entries(UNASKABLE)])(
    '%s',
    async (_, response) => {
      const partition = await newPartition();
      const [batch] = (await claim(partition, [RECORD])).batches;
      const context = await contextOf(partition, [response(VALID_ACCEPTANCE)]);
      const unsent = new UnsentBatches([batch!]);

      await expect(uploadBatch(context, batch!, unsent)).rejects.toThrow();
      await unsent.release(context);

      expect(await whySkipped()).toBe('contended');
      expect(await the.ledger.batches.takeOverLeftBehind(partition)).toMatchObject([
        { externalIds: ['a'], platformBatchId: null },
      ]);
    },
  );
});

/** A batch that the platform has accepted, and that is not settled. */
async function sentBatch(): Promise<{ partition: AcquiredPartition; batch: SentBatch }> {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [RECORD])).batches;
  const recorded = the.ledger.batches.markSent(batch!, 'b1');
  await recorded;
  return { partition, batch: { ...batch!, platformBatchId: 'b1', recorded } };
}

describe('a batch stays as it is after a status that is', () => {
  it.each([...EVERYWHERE, ...first(BAD_STATUSES), ...first(FAILURES)])('%s', async (what, response) => {
    const { partition, batch } = await sentBatch();
    const context = await contextOf(partition, [response(VALID_STATUS)], what in INCOMPLETE ? 150 : undefined);

    const error = await quietly(() => errorOf(settleBatch(context, batch, '0')));

    expect(error.code).toMatch(/^platform_|^redirect_refused$/);
    expect(await whySkipped()).toBe('contended');
    // Once the platform answers, the next attempt finds the batch, and asks for its outcome.
    await quietly(async () => recoverPartition(await contextOf(partition, [DONE])));
    expect(await whySkipped()).toBe('unchanged');
  });
});

describe('a record counts as accepted after a status with', () => {
  it.each(Object.entries(TERSE))('%s', async (_, response) => {
    const { partition, batch } = await sentBatch();
    const { outcomes } = await quietly(async () =>
      settleBatch(await contextOf(partition, [response(VALID_STATUS)]), batch, '0'),
    );
    expect(outcomes).toBe('all accepted');
  });
});

describe('a record is sent again after a status with', () => {
  it.each(Object.entries(UNPROVEN))('%s', async (_, response) => {
    const { partition, batch } = await sentBatch();
    const status = response(VALID_STATUS);
    const platform: Answer = (res, request) =>
      (request.url.startsWith('/api/batches/') ? status : NOT_FOUND)(res, request);

    const { outcomes } = await quietly(async () => settleBatch(await contextOf(partition, [platform]), batch, '0'));
    expect(outcomes).not.toBe('all accepted');
    expect((outcomes as ReadonlyMap<string, { kind: string }>).get('a')!.kind).not.toBe('accepted');

    // Also if the attempt dies before it has written the outcome, and the next one recovers the batch.
    await quietly(async () => recoverPartition(await contextOf(partition, [platform])));
    expect(['pending', undefined]).toContain(await whySkipped());
  });
});
