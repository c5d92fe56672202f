/** A POST that comes late: its intent is renewed first, so that a successor counts its wait from there, or it is not sent. */
import { expect, it } from 'vitest';
import { uploadBatch, type UploadScope } from '../../activities/upload-batch.js';
import { openRequestLimit } from '../../src/platform/request-limit.js';
import type { IntendedBatch } from '../../src/state/open-batches.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { answer, errorOf, stubPlatform, type Answer } from '../platform/stub-platform.js';
import { ledgerForTests, record } from '../state/ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, claim } = the;

/** The client by itself would wait for an answer for ten minutes. */
async function scopeOf(range: TakenRange, inDoubtDelay: number, answers: readonly Answer[]) {
  const { client: platform, seen } = await stubPlatform(answers, { requestTimeout: 600_000 });
  const upload = { inDoubtDelay };
  const scope = {
    deps: { ledger: the.ledger, platform },
    sync: { spec: { name: 'shop', upload, mappings: [] }, limit: openRequestLimit(4) },
    mapping: { spec: { schema: { name: 'customer' }, options: { onConflict: 'upsert', ignoreUnknownFields: false } } },
    ...{ range, signal: new AbortController().signal },
  };
  return { scope: scope as unknown as UploadScope, seen };
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
  const range = await newRange();
  const [batch] = (await claim(range, [record('a', '1')])).batches;
  const ages: number[] = [];
  const { scope, seen } = await scopeOf(range, 600, [whenLooked(ages, taken)]);

  const { sent } = await uploadBatch(scope, await frozen(batch!, 1_000));

  expect(seen).toHaveLength(1);
  expect(ages[0]).toBeLessThan(300);
  expect(sent).toMatchObject([{ id: batch!.id, platformBatchId: 'platform-1' }]);
  await sent[0]!.noted;
});

it('sends nothing when another attempt has taken over while it was frozen', async () => {
  const range = await newRange();
  const [batch] = (await claim(range, [record('a', '1')])).batches;
  const { scope, seen } = await scopeOf(range, 600, [taken]);
  await the.ledger.ranges.take(range.id);

  const error = await errorOf(uploadBatch(scope, await frozen(batch!, 1_000)));

  expect(error.code).toBe('fenced_off');
  expect(seen).toEqual([]);
});

it('sends nothing a second time after a lost answer when another attempt has taken over meanwhile', async () => {
  const range = await newRange();
  const [batch] = (await claim(range, [record('a', '1')])).batches;
  const lost: Answer = (response) => void the.ledger.ranges.take(range.id).then(() => response.destroy());
  const { scope, seen } = await scopeOf(range, 2, [lost, taken]);

  const error = await errorOf(uploadBatch(scope, batch!));

  expect(error.code).toBe('fenced_off');
  expect(seen).toHaveLength(1);
});

it('gives a POST up that may outlast the time that a successor waits for it, and sends the batch again', async () => {
  const range = await newRange();
  const [batch] = (await claim(range, [record('a', '1')])).batches;
  const never: Answer = () => undefined;
  const { scope, seen } = await scopeOf(range, 2, [never, taken]);

  const { sent } = await uploadBatch(scope, batch!);

  expect(seen.length).toBeGreaterThan(1);
  await sent[0]!.noted;
});
