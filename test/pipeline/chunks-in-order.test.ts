/** Chunks that are delivered concurrently: the position passes none that is unfinished. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { openChunkSlots } from '../../src/delivery/chunk-slots.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { chunksInOrder } from '../../src/delivery/load/chunks-in-order.js';
import { loadPartition } from '../../src/delivery/load/load-partition.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { keptFiles } from '../../src/mapping/kept-files.js';
import { openShop, SYNC } from './shop.js';

/** The first chunk of a time slice has 4,000 rows. */
const ROWS = 4_500;

it('does not move the position past a failed chunk, even if the next one was delivered', async () => {
  const shop = await openShop({ upload: { batchSize: 500 } });
  onTestFinished(() => shop.close());
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'Customer ' || i, 'A' FROM generate_series(1, ${ROWS}) i`,
  );
  const deps = await shop.parts.dependencies();
  const { ledger, platform } = deps;
  const { spec, files } = await shop.parts.loadSync(SYNC);
  const { id: runId } = await ledger.runs.begin({
    sync: SYNC,
    kind: 'backfill',
    mode: 'backfill',
    input: { sync: SYNC },
    mappingVersion: spec.version,
    files: keptFiles(files),
    workflowId: randomUUID(),
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
  });
  const mappingId = await ledger.ids.mappingId(SYNC, 'customers');
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
  await ledger.partitions.plan(runId, mappingId, [{ ...bounds, byCursor: true, movesPosition: true, reads: 'at' }]);
  const [partition] = await ledger.partitions.planned(runId, mappingId);
  const ref = { runId, sync: SYNC, mapping: 'customers', partitionId: partition!.id };
  const { signal } = new AbortController();

  // Cancelled while it reads, an attempt claims nothing: the next one would wait for those intents.
  const cancelled = new AbortController();
  const nextReadSeq = (): Promise<string> => {
    cancelled.abort();
    return ledger.nextReadSeq();
  };
  const reading = { ...deps, ledger: { ...ledger, nextReadSeq } };
  await expect(loadPartition(reading, ref, cancelled.signal)).rejects.toThrow('aborted');
  expect(await shop.state.query('SELECT FROM partner_sync.batches')).toEqual([]);

  let secondIsThere = (): void => undefined;
  const second = new Promise<void>((resolve) => (secondIsThere = resolve));
  const uploadResources: typeof platform.uploadResources = async (schema, body, query, options) => {
    const text = (body as Buffer).toString();
    if (text.includes('"customerId":"1"')) {
      await second;
      throw new PartnerSyncError('platform_unauthorized', 'answered 401');
    }
    const answer = await platform.uploadResources(schema, body, query, options);
    if (text.includes(`"customerId":"${ROWS}"`)) secondIsThere();
    return answer;
  };
  const findBatch: typeof platform.findBatch = (id, options) => platform.findBatch(id, options);
  const failing = {
    ...deps,
    platform: { uploadResources, findBatch, awaitsToken: () => false },
  } as unknown as Dependencies;

  await expect(loadPartition(failing, ref, signal)).rejects.toMatchObject({ code: 'platform_unauthorized' });
  expect(await ledger.partitions.position(mappingId)).toBeNull();

  expect(await loadPartition(deps, ref, signal)).toMatchObject({ done: true, progress: [{ read: ROWS }] });
  expect(await shop.store.query('SELECT count(*)::int AS n FROM sandbox.resources')).toEqual([{ n: ROWS }]);
  expect(await ledger.partitions.position(mappingId)).not.toBeNull();
});

it('begins no chunk once another has failed, even if its rows were being read by then', async () => {
  const begun: string[] = [];
  let refuse = (): void => undefined;
  const refused = new Promise<void>((_, reject) => (refuse = () => reject(new Error('refused'))));
  async function* chunks() {
    yield 'first';
    refuse();
    await new Promise(setImmediate);
    yield 'second';
  }
  const loading = chunksInOrder(chunks(), () => true, {
    acquireSlot: () => openChunkSlots().acquire('rows', new AbortController().signal),
    deliver(chunk) {
      begun.push(chunk);
      return chunk === 'first' ? refused : Promise.resolve();
    },
    finish: () => Promise.resolve(),
  });

  await expect(loading).rejects.toThrow('refused');
  expect(begun).toEqual(['first']);
});

it('begins chunks of changed rows although others have all slots, and only so many', async () => {
  const { signal } = new AbortController();
  const slots = openChunkSlots();
  let begun = 0;
  const begin = (reads: 'rows' | 'changed_rows', count: number): void => {
    for (let i = 0; i < count; i++) void slots.acquire(reads, signal).then(() => begun++);
  };
  begin('rows', 5);
  await new Promise(setImmediate);
  expect(begun).toBe(4);
  begin('changed_rows', 20);
  await new Promise(setImmediate);
  expect(begun).toBe(4 + 12);
});
