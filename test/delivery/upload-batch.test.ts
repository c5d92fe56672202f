/** A POST that is late: its intent is renewed first, so that a successor's wait counts from there, or it is not sent. */
import { describe, expect, it } from 'vitest';
import { EffortMeter } from '../../src/domain/run/effort.js';
import { EarlierChunks, type PartitionContext } from '../../src/delivery/partition-context.js';
import { NO_METERS } from '../../src/domain/monitoring/meters.js';
import type { OnRetry } from '../../src/domain/monitoring/retries.js';
import { UnsentBatches } from '../../src/delivery/upload/unsent-batches.js';
import { uploadBatch } from '../../src/delivery/upload/upload-batch.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import type { IntendedBatch } from '../../src/ledger/batches/batch-intents.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { answer, errorOf, stubPlatform, type Answer } from '../platform/stub-platform.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim } = the;

/** Uploads the only batch of a chunk. */
const upload = (context: PartitionContext, batch: IntendedBatch) =>
  uploadBatch(context, batch, new UnsentBatches([batch]));

/** The client by itself would wait for an answer for ten minutes. */
async function contextOf(
  partition: AcquiredPartition,
  inDoubtDelay: number,
  answers: readonly Answer[],
  onRetry: OnRetry = () => undefined,
  signal = new AbortController().signal,
) {
  const { client: platform, seen } = await stubPlatform(answers, { requestTimeout: 600_000 });
  const upload = { inDoubtDelay };
  const context = {
    deps: { ledger: the.ledger, platform },
    sync: { spec: { name: 'shop', upload, mappings: [] }, requestLimit: createRequestLimit(4), onRetry },
    mapping: {
      spec: { schema: { name: 'customer', schema: {} }, options: { onConflict: 'upsert', ignoreUnknownFields: false } },
      referenceFields: new Set(),
      meter: NO_METERS.mapping(the.mappingId, 'shop', 'customers'),
    },
    partition,
    earlierChunks: new EarlierChunks(),
    effort: new EffortMeter(),
    signal,
  };
  return { context: context as unknown as PartitionContext, seen };
}

const taken: Answer = answer(202, { success: true, data: { batchId: 'platform-1', recordCount: 1 } });

/** Answers when the ledger has been asked how many seconds ago, by its own clock, it was told of the intent. */
const whenLooked =
  (ages: number[], then: Answer): Answer =>
  (response, request) =>
    void the.database
      .query<{ age: number }>(
        `SELECT extract(epoch FROM clock_timestamp() - intended_at)::float8 AS age FROM partner_sync.batches
         WHERE mapping_id = $1`,
        [the.mappingId],
      )
      .then(([row]) => {
        ages.push(row!.age);
        then(response, request);
      });

/** The attempt was frozen for so many seconds between its intent and the POST. */
async function frozen(batch: IntendedBatch, seconds: number): Promise<IntendedBatch> {
  await the.database.query(
    `UPDATE partner_sync.batches SET intended_at = intended_at - $1 * interval '1 second' WHERE id = $2`,
    [seconds, batch.id],
  );
  return { ...batch, intendedAt: batch.intendedAt - seconds * 1000 };
}

it('renews an intent that is too old before it sends the batch', async () => {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [record('a', '1')])).batches;
  const ages: number[] = [];
  const { context, seen } = await contextOf(partition, 600, [whenLooked(ages, taken)]);

  const { sent } = await upload(context, await frozen(batch!, 1_000));

  expect(seen).toHaveLength(1);
  expect(ages[0]).toBeLessThan(300);
  expect(sent).toMatchObject([{ id: batch!.id, platformBatchId: 'platform-1' }]);
  await sent[0]!.recorded;
});

it('sends nothing when another attempt has taken over while it was frozen', async () => {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [record('a', '1')])).batches;
  const { context, seen } = await contextOf(partition, 600, [taken]);
  await the.ledger.partitions.acquire(partition.id);

  const error = await errorOf(upload(context, await frozen(batch!, 1_000)));

  expect(error.code).toBe('fenced_off');
  expect(seen).toEqual([]);
});

it('sends nothing a second time after a lost answer when another attempt has taken over meanwhile', async () => {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [record('a', '1')])).batches;
  const lost: Answer = (response) => void the.ledger.partitions.acquire(partition.id).then(() => response.destroy());
  const { context, seen } = await contextOf(partition, 2, [lost, taken]);

  const error = await errorOf(upload(context, batch!));

  expect(error.code).toBe('fenced_off');
  expect(seen).toHaveLength(1);
});

it("gives up a POST that may outlast a successor's wait for it, and sends the batch again", async () => {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [record('a', '1')])).batches;
  const never: Answer = () => undefined;
  const { context, seen } = await contextOf(partition, 2, [never, taken]);

  const { sent } = await upload(context, batch!);

  expect(seen.length).toBeGreaterThan(1);
  await sent[0]!.recorded;
});

it.each<[string, Answer]>([
  ['whose answer was lost', (response) => void response.destroy()],
  ['that a gateway says it has not passed on', answer(503, 'upstream connect error or reset before headers')],
])('sends a batch again at once %s, and holds other content of its records back meanwhile', async (_, lost) => {
  const partition = await newPartition();
  const records = [record('a', '1'), record('b', '1')];
  const claimed = await claim(partition, records);
  const [batch] = claimed.batches;
  const { context, seen } = await contextOf(partition, 600, [lost, lost, taken]);

  const { sent } = await upload(context, batch!);
  await sent[0]!.recorded;

  expect(seen).toHaveLength(3);
  await the.ledger.checkpoint(partition, await the.outcome(claimed, records, 'accepted'));
  const other = [record('a', '2'), record('b', '1'), record('c', '1')];
  expect((await claim(await newPartition(), other)).skipReasons).toEqual(['contended', 'unchanged', undefined]);
  expect((await claim(await newPartition(), [record('a', '2', 'south')])).skipReasons).toEqual([undefined]);
  await the.database.query('UPDATE partner_sync.doubts SET until = now() WHERE mapping_id = $1', [the.mappingId]);
  expect((await claim(await newPartition(), [record('a', '2')])).skipReasons).toEqual([undefined]);
});

it('lets a batch wait whose answer was lost if its mapping keeps no records in the ledger', async () => {
  const partition = await newPartition();
  const [batch] = (await claim({ ...partition, keepsRecords: false }, [record('a', '1')])).batches;
  const sentAt: number[] = [];
  const lost: Answer = (response) => (sentAt.push(performance.now()), void response.destroy());
  const again: Answer = (response, request) => (sentAt.push(performance.now()), taken(response, request));
  const { context } = await contextOf(partition, 2, [lost, again]);

  await upload(context, batch!);

  expect(sentAt[1]! - sentAt[0]!).toBeGreaterThan(1_900);
});

it('tells of each attempt that failed, and since when, while it sends the batch again', async () => {
  const partition = await newPartition();
  const [batch] = (await claim(partition, [record('a', '1')])).batches;
  const told: Parameters<OnRetry>[] = [];
  const answers = [answer(503, {}), answer(500, {}), taken];
  const { context } = await contextOf(partition, 1, answers, (...failure) => told.push(failure));

  const { sent } = await upload(context, batch!);

  expect(told.map(([code]) => code)).toEqual(['platform_busy', 'platform_failed']);
  expect(told[0]![1]).toBeLessThan(100);
  await sent[0]!.recorded;
});

describe('when the platform fails at a batch again and again', () => {
  /** Takes batches, but fails at those in which one of these records is. */
  const failingAt =
    (...ids: string[]): Answer =>
    (response, request) => {
      const fails = ids.some((id) => request.body.includes(`"id":"${id}"`));
      const said = answer(500, { success: false, message: 'internal error' });
      if (request.method === 'GET') return answer(404, { success: false, message: 'none' })(response, request);
      return (fails ? said : taken)(response, request);
    };
  const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  async function uploaded(platform: Answer, ids = IDS) {
    const partition = await newPartition();
    const records = ids.map((id) => record(id, '1'));
    const [batch] = (await claim(partition, records)).batches;
    const { context, seen } = await contextOf(partition, 600, [platform]);
    const result = await upload(context, batch!).catch((error: unknown) => error as { code: string });
    if ('code' in result) return { code: result.code, posts: seen.length };
    await Promise.all(result.sent.map((sent) => sent.recorded));
    return {
      sent: result.sent.flatMap((sent) => sent.records.externalIds),
      failed: result.failed.map((failed) => failed.record.externalId),
      settled: result.settled.length,
    };
  }

  it('finds the records at fault, and sends the others', async () => {
    expect(await uploaded(failingAt('b'))).toEqual({
      sent: ['a', 'c', 'd', 'e', 'f', 'g', 'h'],
      failed: ['b'],
      settled: 0,
    });
    expect(await uploaded(failingAt('p', 's'), ['p', 'q', 'r', 's'])).toMatchObject({ failed: ['p', 's'] });
  });

  it('does not send each record by itself if it fails at everything', async () => {
    const { code, posts } = (await uploaded(failingAt(...IDS))) as { code: string; posts: number };
    expect(code).toBe('platform_failed');
    // Seven of the whole, then halves down to three single records, each of which is looked up.
    expect(posts).toBeLessThan(7 + 6 + 3 + 3);
  });

  it('takes a record for accepted that the platform has stored all the same', async () => {
    const stored: Answer = (response, request) =>
      request.method === 'GET'
        ? answer(200, {
            success: true,
            data: { result: { resourceExternalId: 'b', data: { id: 'b', content: '1' } } },
          })(response, request)
        : failingAt('b')(response, request);
    expect(await uploaded(stored)).toMatchObject({ failed: [], settled: 1 });
  });
});

describe('when the attempt is cancelled', () => {
  /** Uploads a batch in an attempt that is cancelled before, or when its request gets no answer. */
  async function leftBehindBy(cancelled: 'before' | 'in doubt') {
    const partition = await newPartition();
    const [batch] = (await claim(partition, [record('a', '1')])).batches;
    const attempt = new AbortController();
    const lost: Answer = (response) => {
      attempt.abort();
      response.destroy();
    };
    const { context, seen } = await contextOf(partition, 600, [lost], () => undefined, attempt.signal);
    if (cancelled === 'before') attempt.abort();
    const unsent = new UnsentBatches([batch!]);
    await expect(uploadBatch(context, batch!, unsent)).rejects.toThrow();
    await unsent.release(context);
    return { seen, leftBehind: await the.ledger.batches.takeOverLeftBehind(partition) };
  }

  it('leaves no intent for a successor to wait for if the batch was not sent', async () => {
    expect(await leftBehindBy('before')).toEqual({ seen: [], leftBehind: [] });
  });

  it('leaves the intent if the batch may have been sent', async () => {
    const { seen, leftBehind } = await leftBehindBy('in doubt');
    expect(seen).toHaveLength(1);
    expect(leftBehind).toMatchObject([{ externalIds: ['a'], platformBatchId: null }]);
  });
});
