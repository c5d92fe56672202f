/** Polling a mapping with many pending batches: side by side, but within the limit of requests of the sync. */
import { expect, it } from 'vitest';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { pollMapping } from '../../src/delivery/pending/poll-mapping.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();

const LIMIT = 3;

/** Batches of one record each, all of which the platform keeps pending. */
async function pendingBatches(ids: readonly string[]): Promise<string> {
  const partition = await the.newPartition();
  for (const id of ids) {
    const [batch] = (await the.claim(partition, [record(id, '1')])).batches;
    await the.ledger.batches.markSent(batch!, `platform-${id}`);
  }
  for (const batch of await the.ledger.batches.takeOverLeftBehind(partition))
    await the.ledger.batches.recover(partition, batch, {
      outcomes: [],
      pending: batch.externalIds,
      dependencyWait: 3600,
    });
  return partition.runId;
}

async function poll(runId: string, findBatch: (id: string) => Promise<object>): Promise<void> {
  const deps = {
    ledger: the.ledger,
    platform: { findBatch },
    openSync: () =>
      Promise.resolve({
        spec: { name: 'shop', version: 'v1', mappings: [], upload: { inDoubtDelay: 60, batchDeadline: 60 } },
        requestLimit: createRequestLimit(LIMIT),
        mapping: () => Promise.resolve({ mappingId: the.mappingId, spec: { name: 'customers' } }),
      }),
  } as unknown as Dependencies;
  await pollMapping(deps, { runId, sync: 'shop', mapping: 'customers' }, new AbortController().signal, () => true);
}

it('polls as many batches at once as requests are allowed, and each of them once', async () => {
  const ids = Array.from({ length: 10 }, (_, i) => `r${i}`);
  const runId = await pendingBatches(ids);
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const findBatch = async (batchId: string) => {
    asked.push(batchId);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running--;
    const progress = {
      totalRecords: 1,
      processedRecords: 0,
      successfulRecords: 0,
      pendingRecords: 1,
      failedRecords: 0,
    };
    const pending = { resourceExternalId: batchId.slice('platform-'.length), missingDependencies: [], expiresAt: null };
    return { batchId, progress, completedAt: null, pendingResources: [pending] };
  };
  await poll(runId, findBatch);

  expect(asked.toSorted()).toEqual(ids.map((id) => `platform-${id}`).toSorted());
  expect(most).toBe(LIMIT);
  expect((await the.ledger.batches.withPending(the.mappingId)).length).toBe(ids.length);
});

it('keeps newer content back for a while when the platform drops a child, as an earlier copy of it may have come later', async () => {
  const runId = await pendingBatches(['a']);
  const progress = { totalRecords: 1, processedRecords: 1, successfulRecords: 0, pendingRecords: 0, failedRecords: 1 };

  await poll(runId, (batchId) => Promise.resolve({ batchId, progress, completedAt: '2026-01-01T00:00:00Z' }));

  expect(await the.ledger.batches.withPending(the.mappingId)).toEqual([]);
  expect((await the.claim(await the.newPartition(), [record('a', '2')])).skipReasons).toEqual(['contended']);
  expect((await the.claim(await the.newPartition(), [record('a', '1')])).skipReasons).toEqual([undefined]);
});

it('closes a batch in doubt whose records were all sent again, although no record waits', async () => {
  const dead = await the.newPartition();
  const same = [record('a', '1')];
  await the.claim(dead, same);
  const [left] = await the.ledger.batches.takeOverLeftBehind(dead);
  await the.ledger.batches.recover(dead, left!, {
    outcomes: same.map((r) => the.sent(r, 'unknown')),
    pending: ['a'],
    dependencyWait: 3600,
  });
  const readSeqs = await the.reading();
  const claimed = await the.claim(dead, same, readSeqs);
  await the.ledger.checkpoint(dead, await the.outcome(claimed, same, 'accepted', { readSeqs }));
  expect((await the.ledger.batches.withPending(the.mappingId)).map(({ id }) => id)).toEqual([left!.id]);

  await poll(dead.runId, () => Promise.reject(new Error('there is no batch to ask for')));

  expect(await the.ledger.batches.withPending(the.mappingId)).toEqual([]);
});
